# SPDX-License-Identifier: GPL-3.0-or-later
# the same bytes for any number of threads, under any name, with whatever was in memory before
moefabric compare --quiet --threads 1 --output one.h5 "$SOURCE/configs/incast.yaml" > one.txt
MALLOC_PERTURB_=165 moefabric compare --quiet --threads 3 --output two.h5 "$SOURCE/configs/incast.yaml" > two.txt
cmp one.h5 two.h5 && cmp one.txt two.txt
