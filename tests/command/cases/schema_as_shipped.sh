# SPDX-License-Identifier: GPL-3.0-or-later
# the schemas that are shipped are those that the program prints
moefabric schema | diff "$SOURCE/configs/configuration.schema.json" -
moefabric schema validation | diff "$SOURCE/configs/validation/validation.schema.json" -
moefabric schema topology | diff "$SOURCE/topologies/topology.schema.json" -
