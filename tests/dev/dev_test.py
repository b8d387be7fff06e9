#!/usr/bin/env python3
"""Tests of what ./dev says of itself: it must not install or build anything for that."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Dev(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.set_up = self.root / "set-up"
        shutil.copy(ROOT / "dev", self.root / "dev")
        # Every command that builds begins with this.
        self.program("tools/packages.sh", f"touch '{self.set_up}'; exit 1")

    def program(self, path, script):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + script + "\n")
        path.chmod(0o755)

    def dev(self, *args):
        done = subprocess.run([self.root / "dev", *args], capture_output=True, text=True, timeout=30)
        return done.returncode, done.stdout, done.stderr

    def commands(self):
        found = set(re.findall(r"^  ([a-z-]+)", self.dev("help")[1], re.M))
        self.assertIn("demo", found)
        return sorted(found)

    def test_every_command_explains_itself_without_building(self):
        for command in set(self.commands()) - {"kubectl", "helm"}:  # these have a help of their own
            for option in "--help", "-h":
                with self.subTest(command=command, option=option):
                    code, told, errors = self.dev(command, option)
                    self.assertEqual((code, errors), (0, ""))
                    self.assertRegex(told, f"(?m)^  {command}( |$)")
        self.assertFalse(self.set_up.exists())

    def test_help_of_one_command_is_about_no_other(self):
        for command in self.commands():
            with self.subTest(command=command):
                code, told, _ = self.dev("help", command)
                self.assertEqual(code, 0)
                self.assertEqual(set(re.findall(r"^  ([a-z-]+)", told, re.M)), {command})

    def test_the_program_behind_a_command_tells_its_options_when_it_is_built(self):
        self.program("build/dev/tests/sim/regatta_sim_run", 'echo "asked $*"')
        code, told, _ = self.dev("sim", "--seeds", "5", "--help")
        self.assertEqual(code, 0)
        self.assertIn("asked --help\n", told)
        self.assertFalse(self.set_up.exists())

    def test_an_unknown_command_is_refused(self):
        for words in ["nonsense"], ["nonsense", "--help"], ["help", "nonsense"]:
            with self.subTest(words=words):
                code, told, errors = self.dev(*words)
                self.assertEqual((code, told), (2, ""))
                self.assertIn("unknown command: nonsense; ./dev help lists what there is", errors)

    def test_a_command_without_help_builds(self):
        code, _, _ = self.dev("sim", "--seeds", "1")
        self.assertNotEqual(code, 0)
        self.assertTrue(self.set_up.exists())


if __name__ == "__main__":
    unittest.main()
