# SPDX-License-Identifier: GPL-3.0-or-later
# Colour on a terminal, none there under NO_COLOR, none where nobody looks on.
python3 - <<'END'
import os, pty, subprocess

def said(colour, terminal):
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | colour
    reader, writer = pty.openpty() if terminal else os.pipe()
    done = subprocess.run(["moefabric", "nonsense"], env=environment, stderr=writer, check=False)
    os.close(writer)
    text = os.read(reader, 65536)
    assert done.returncode == 2 and b"MF-070" in text, text
    return b"\033[" in text

print("terminal:", said({}, True), "with NO_COLOR:", said({"NO_COLOR": "1"}, True), "empty NO_COLOR:", said({"NO_COLOR": ""}, True), "pipe:", said({}, False))
END
