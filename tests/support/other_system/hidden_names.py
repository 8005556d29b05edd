"""What only POSIX has: modules, and names of modules that are everywhere."""

NO_MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "readline", "syslog", "selectors"}
HIDDEN = {
    "os": {
        "fork", "forkpty", "killpg", "setsid", "setpgid", "getpgid", "getsid", "getuid", "geteuid", "getgid", "getegid",
        "sched_getaffinity", "sched_setaffinity", "nice", "getloadavg", "sysconf", "uname", "fchmod", "fchown", "chown",
        "lchown", "mkfifo", "mknod", "statvfs", "fstatvfs", "pread", "pwrite", "set_blocking", "get_blocking",
        "O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_SYNC", "WIFEXITED", "wait3", "wait4",
        "fchdir", "openpty", "register_at_fork", "posix_spawn", "ctermid", "sync", "fdatasync",
    },
    "signal": {
        "SIGKILL", "SIGSTOP", "SIGCONT", "SIGHUP", "SIGQUIT", "SIGTSTP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD",
        "SIGPIPE", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK", "pthread_sigmask", "pthread_kill", "pause", "alarm",
        "setitimer", "siginterrupt", "sigwait", "sigpending",
    },
    "select": {"poll", "epoll", "kqueue", "devpoll"},
    "time": {"clock_gettime", "CLOCK_BOOTTIME", "CLOCK_MONOTONIC", "pthread_getcpuclockid", "tzset"},
    "subprocess": set(), "shutil": set(),
}  # fmt: skip
