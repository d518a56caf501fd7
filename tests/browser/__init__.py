"""The console in a real Chromium. These tests run with `make console-test`; `make test` leaves them out."""
