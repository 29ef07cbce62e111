#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Goal: every alarm of tests/tidy/tidy.py rings. Method: alarms.py breaks each rule and worsens each number once, in a
# small tree made for that, and reads what is reported.
exec python3 "$(dirname "$0")/alarms.py"
