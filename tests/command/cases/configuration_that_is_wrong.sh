# SPDX-License-Identifier: GPL-3.0-or-later
cat > wrong.yaml <<END
name: wrong
topology: $SOURCE/topologies/gb200-nvl72-spectrumx.yaml
traffic:
  pattern: incasst
  senders: -3
  bytes: 2 Mb
  bytes: 2 MB
policies:
  - {path: ecmp, congestion: dcqcm}
END
moefabric check wrong.yaml
