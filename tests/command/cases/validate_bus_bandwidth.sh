# SPDX-License-Identifier: GPL-3.0-or-later
moefabric validate "$SOURCE/configs/validation/alltoall-busbw.yaml" --only 'V4.[24n]*' --quiet
