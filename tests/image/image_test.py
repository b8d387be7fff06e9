#!/usr/bin/env python3
"""Tests of tools/image.py with a binary that was built: image_test.py BINARY."""
import contextlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest
from unittest import mock

import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))

import image  # noqa: E402

BINARY = pathlib.Path(sys.argv.pop(1))
VERSION = re.search(r"project\(regatta VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
EPOCH = 1_790_000_000


def files(folder):
    """{path: digest}, which is short enough to be shown."""
    return {str(p.relative_to(folder)): image.sha256(p.read_bytes())
            for p in sorted(folder.rglob("*")) if p.is_file()}


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.work.cleanup)
        cls.made = pathlib.Path(cls.work.name) / "made"
        cls.layout = cls.make(cls.made)

    @classmethod
    def make(cls, out, binary=BINARY, epoch=EPOCH):
        out.mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            return image.make(binary, out, VERSION, epoch)

    def folder(self, name):
        return pathlib.Path(self.work.name) / name

    def config(self):
        index = json.loads((self.layout / "index.json").read_text())
        manifest = json.loads(image.blob(self.layout, index["manifests"][0]))
        return index, json.loads(image.blob(self.layout, manifest["config"]))

    def test_the_binary_runs_out_of_it(self):
        image.verify(self.layout)

    def test_the_same_binary_makes_the_same_bytes(self):
        # Elsewhere, of another time, by a user with another umask.
        copy = self.folder("copy")
        shutil.copyfile(BINARY, copy)
        os.utime(copy, (0, 0))
        old = os.umask(0o077)
        self.addCleanup(os.umask, old)
        self.make(self.folder("again"), copy)
        self.assertEqual(files(self.made), files(self.folder("again")))

    def test_another_time_is_another_image(self):
        self.make(self.folder("later"), epoch=EPOCH + 1)
        name = f"regatta-{VERSION}.oci.tar"
        self.assertNotEqual(files(self.made)[name], files(self.folder("later"))[name])

    def test_a_library_that_is_missing_is_noticed(self):
        whole = image.libraries(BINARY)
        lacking = {k: v for k, v in whole.items() if "libssl" not in k}
        self.assertEqual(len(lacking), len(whole) - 1)
        with mock.patch.object(image, "libraries", return_value=lacking):
            layout = self.make(self.folder("lacking"))
        with self.assertRaisesRegex(SystemExit, "libssl"):
            image.verify(layout)

    def test_a_changed_layer_is_noticed(self):
        layout = self.folder("changed")
        shutil.copytree(self.layout, layout)
        largest = max((layout / "blobs/sha256").iterdir(), key=lambda p: p.stat().st_size)
        content = bytearray(largest.read_bytes())
        content[-1] ^= 1
        largest.write_bytes(content)
        with self.assertRaisesRegex(SystemExit, "is not what its digest says"):
            image.verify(layout)

    def test_an_image_that_is_too_large_is_refused(self):
        with mock.patch.object(image, "LIMIT", 10_000_000):
            with self.assertRaisesRegex(SystemExit, "MB, more than 10"):
                self.make(self.folder("large"))

    def test_a_binary_that_is_not_hardened_is_noticed(self):
        lines = {
            "a position-independent executable": " 0x000000006ffffffb (FLAGS_1) Flags: NOW PIE\n",
            "relocations that are read-only": "  GNU_RELRO      0xd85bd0 0x0000000000d87bd0 R   0x1\n",
            "symbols that are bound at the start": " 0x000000000000001e (FLAGS)   BIND_NOW\n",
            "a stack that is not executable": "  GNU_STACK      0x000000 0x000000 RW  0x10\n",
            "a guard of the stack": "   598: 0    0 FUNC    GLOBAL DEFAULT  UND __stack_chk_fail@GLIBC_2.4 (35)\n",
            "calls that know how long their buffers are":
                "   599: 0    0 FUNC    GLOBAL DEFAULT  UND __memcpy_chk@GLIBC_2.3.4 (6)\n",
        }
        self.assertEqual(image.unhardened("".join(lines.values())), [])
        for what, line in lines.items():
            rest = "".join(lines.values()).replace(line, "")
            self.assertEqual(image.unhardened(rest), [what])
        executable = "".join(lines.values()).replace("RW  0x10", "RWE 0x10")
        self.assertEqual(image.unhardened(executable), ["a stack that is not executable"])

    def test_it_is_what_the_chart_runs(self):
        index, config = self.config()
        values = yaml.safe_load((ROOT / "charts/regatta/values.yaml").read_text())
        named = index["manifests"][0]["annotations"]["io.containerd.image.name"]
        repository = values["controllerManager"]["manager"]["image"]["repository"]
        self.assertEqual(named, f"{repository}:{VERSION}")
        template = (ROOT / "charts/regatta/templates/manager/deployment.yaml").read_text()
        command = json.loads(re.search(r"command: (\[.*\])", template)[1])
        self.assertEqual(config["config"]["Entrypoint"] + config["config"]["Cmd"], command)
        # runAsNonRoot needs a number.
        self.assertRegex(config["config"]["User"], r"^[1-9]\d*:[1-9]\d*$")

    def test_no_line_tables_and_nothing_of_this_machine_is_in_it(self):
        root = self.folder("root")
        root.mkdir()
        image.unpack(self.layout, root)
        self.assertLess((root / image.PROGRAM).stat().st_size, BINARY.stat().st_size)
        top = {p.name for p in root.iterdir()}
        self.assertEqual(top, {"etc", "lib", "lib64", "tmp", "usr", "var"})
        self.assertFalse(list(root.glob("usr/bin/*sh")))
        pem = (root / "etc/ssl/certs/ca-certificates.crt").read_text()
        self.assertGreater(pem.count("BEGIN CERTIFICATE"), 100)

    def test_the_list_of_parts_names_every_package(self):
        text = (self.made / f"regatta-{VERSION}.spdx.json").read_text()
        document = json.loads(text)
        self.assertEqual(document["spdxVersion"], "SPDX-2.3")
        named = {p["name"] for p in document["packages"]}
        for path in image.libraries(BINARY).values():
            self.assertIn(image.package_of(path).split(":")[0], named)
        self.assertLessEqual({"regatta", *image.DATA, *image.COMPILED_IN}, named)
        identities = {p["SPDXID"] for p in document["packages"]} | {"SPDXRef-DOCUMENT"}
        self.assertEqual(len(identities), len(document["packages"]) + 1)
        for relation in document["relationships"]:
            self.assertLessEqual({relation["spdxElementId"], relation["relatedSpdxElement"]},
                                 identities)
        self.assertNotIn(str(ROOT), text)


if __name__ == "__main__":
    unittest.main()
