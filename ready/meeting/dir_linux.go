package meeting

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// private is the mode of the directory.
const private = 0o700

// local are the file systems on which a directory is this machine's alone.
var local = map[uint32]bool{
	unix.TMPFS_MAGIC: true, unix.RAMFS_MAGIC: true, unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true,
	unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true, zfs: true,
}

const zfs = 0x2fc12fc1 // as OpenZFS has it; the kernel's list lacks it

// Dir is the directory of this user, made if it is not there. No variable names
// it: a program that runs for another user would go where its caller wants.
func Dir() (string, error) { return dirIn("/run/user", "/tmp", os.Geteuid()) }

func dirIn(run, temp string, uid int) (string, error) {
	own := strconv.Itoa(uid)
	runtime := filepath.Join(run, own)
	if _, err := os.Lstat(runtime); err == nil {
		if err := check(runtime, uid); err != nil {
			return "", err
		}
		return made(filepath.Join(runtime, "outlast"), uid)
	}
	if !keeps(temp, uid) {
		return "", ErrAlone
	}
	return made(filepath.Join(temp, "outlast-"+own), uid)
}

// made is a directory that is there then, and private.
func made(dir string, uid int) (string, error) {
	if err := os.Mkdir(dir, private); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, check(dir, uid)
}

// check says whether a directory is one, the user's alone, and of this machine.
func check(dir string, uid int) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	var system unix.Statfs_t
	if err := errors.Join(unix.Fstat(fd, &stat), unix.Fstatfs(fd, &system)); err != nil {
		return err
	}
	if int(stat.Uid) != uid || stat.Mode&0o7777 != private || !local[uint32(system.Type)] {
		return ErrAlone
	}
	return nil
}

// keeps says whether nobody else can put another directory in the place of one
// that is the user's.
func keeps(parent string, uid int) bool {
	info, err := os.Lstat(parent)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	others := info.Mode().Perm()&0o022 != 0
	return ok && (stat.Uid == 0 || int(stat.Uid) == uid) && (!others || info.Mode()&fs.ModeSticky != 0)
}
