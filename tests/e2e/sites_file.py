#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a site file says (preload/site-file.h).

sites_file.py FILE          one line a function: HOW SYMBOL SOURCE REASON
sites_file.py FILE --debug  the debug file
"""
import struct
import sys

HEADER = struct.Struct("<QIIQQQQQIIII")
FUNCTION = struct.Struct("<QQQQIIIIII6B")
HEADER_BYTES, FUNCTION_BYTES = 128, 296
HOW = ("refused", "jump", "short", "trap")


class SiteFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        header = HEADER.unpack_from(self.data)
        assert header[0].to_bytes(8, "little") == b"\xffCSITE01", header[0]
        self.n_functions, self.strings = header[2], header[5]
        self.object, self.debug_file = self.string(header[8]), self.string(header[9])

    def string(self, offset):
        begin = self.strings + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def functions(self):
        for i in range(self.n_functions):
            (_, _, _, _, _, symbol, base_name, _, source, reason, how,
             *_) = FUNCTION.unpack_from(self.data, HEADER_BYTES + i * FUNCTION_BYTES)
            yield {"symbol": self.string(symbol), "base_name": self.string(base_name),
                   "source": self.string(source), "reason": self.string(reason), "how": HOW[how]}


if __name__ == "__main__":
    sites = SiteFile(sys.argv[1])
    if sys.argv[2:] == ["--debug"]:
        print(sites.debug_file)
    else:
        for row in sites.functions():
            print(row["how"], row["symbol"], row["source"], row["reason"])
