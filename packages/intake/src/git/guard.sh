# Starts git inside limits; both of the package's runners go through here.
#   guard.sh ADDRESS_SPACE_KIB FILE_BLOCKS_OF_512 CPU_SECONDS WALL_SECONDS GIT_ARGUMENTS...
# A pack can make git allocate or write without end (delta bombs, endless packs): the kernel stops it, not we.
# timeout(1) makes a process group of its own and passes signals on to all of it, helpers such as git-remote-https
# included, which otherwise outlive a killed git. It also ends a git whose parent was killed before it could.
# The empty line is for simple-git, which holds back the end of a process that said nothing for 50 ms.
echo >&2
ulimit -c 0
ulimit -v "$1"
ulimit -f "$2"
ulimit -t "$3"
wall="$4"
shift 4
exec timeout -s KILL "$wall" git "$@"
