"""A PostgreSQL of the tests' own: in a temporary folder, on a Unix socket or a free port, and gone with the test."""
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time


def programs():
    """The folder of the server's programs; None where none are installed (Debian's package postgresql has them)."""
    folders = sorted(glob.glob("/usr/lib/postgresql/*/bin")) + os.environ.get("PATH", "").split(":")
    for folder in reversed(folders):
        if all(os.access(f"{folder}/{name}", os.X_OK) for name in ("initdb", "postgres", "psql")):
            return pathlib.Path(folder)
    return None


class Postgres:
    """A server with one database. Only its own processes are ever signalled."""

    def __init__(self, connections=300):
        self.programs = programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="skillbus-postgres-"))
        self.options = ["-k", self.folder, "-h", "", "-c", f"max_connections={connections}"]
        self.user = None
        if os.geteuid() == 0:
            # It refuses to run as root.
            for name in ("postgres", "nobody"):
                try:
                    self.user = pwd.getpwnam(name)
                    break
                except KeyError:
                    continue
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        self.process = None
        try:
            self._run("initdb", "-D", self.folder / "data", "-U", "skillbus", "-A", "trust", "-E", "UTF8", "--locale=C", "-N")
            self.start()
            self.query("CREATE DATABASE skillbus", database="postgres")
        except BaseException:
            self.close()
            raise

    @property
    def url(self):
        return f"postgres://skillbus@/skillbus?host={self.folder}"

    def _as_user(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} if self.user else {}

    def _run(self, program, *arguments):
        done = subprocess.run([self.programs / program, *arguments], capture_output=True, text=True, cwd="/", timeout=120,
                              **self._as_user())
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([self.programs / "postgres", "-D", self.folder / "data", *self.options],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                            start_new_session=True, **self._as_user())
        end = time.monotonic() + 60
        while True:
            try:
                return self.query("SELECT 1", database="postgres")
            except AssertionError:
                assert time.monotonic() < end and self.process.poll() is None, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)

    def query(self, sql, database="skillbus"):
        """What SQL gives: lines with columns separated by |."""
        return self._run("psql", "-qAtX", "-h", self.folder, "-U", "skillbus", "-d", database, "-v", "ON_ERROR_STOP=1",
                         "-c", sql).strip()

    def _family(self):
        """The server's process and those that it has started."""
        children = []
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                text = path.read_text()
            except OSError:
                continue
            if int(text.rsplit(")", 1)[1].split()[1]) == self.process.pid:
                children.append(int(path.parent.name))
        return [self.process.pid, *children]

    def signal(self, number):
        """All of its processes at once, as when the host stands still."""
        for pid in self._family():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def kill(self):
        """kill -9 of all of it, as when the host goes down."""
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """An orderly stop that does not wait for clients."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)

    def close(self):
        if self.process and self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGQUIT)
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
