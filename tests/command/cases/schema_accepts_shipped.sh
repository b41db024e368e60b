# SPDX-License-Identifier: GPL-3.0-or-later
python3 -c 'import jsonschema, yaml' 2>/dev/null || { echo "needs python3-jsonschema and python3-yaml"; exit 77; }
moefabric schema > configuration.json
moefabric schema topology > topology.json
moefabric schema validation > validation.json
python3 - <<'END'
import glob, json, os, yaml
from jsonschema import Draft7Validator
for kind, folder, place in (("configuration", "configs", ""), ("topology", "topologies", ""), ("validation", "configs/validation", ""),
                            ("configuration", "configs/validation/set-ups", "../../")):
    schema = kind + ".json"
    first = f"# yaml-language-server: $schema={place}{kind}.schema.json\n" # where editors look
    with open(schema) as text:
        validator = Draft7Validator(json.load(text))
    Draft7Validator.check_schema(validator.schema)
    files = sorted(glob.glob(os.path.join(os.environ["SOURCE"], folder, "*.yaml")))
    assert files, folder
    for path in files:
        with open(path) as text:
            if text.readline() != first:
                print(os.path.relpath(path, os.environ["SOURCE"]), "does not begin with", first)
            text.seek(0)
            mistakes = [error.message for error in validator.iter_errors(yaml.safe_load(text))]
        if mistakes:
            print(os.path.relpath(path, os.environ["SOURCE"]), mistakes)
    with open(files[0]) as text:
        broken = yaml.safe_load(text)
    broken["no_such_key"] = 1
    assert not validator.is_valid(broken), "an unknown key must be refused"
END
