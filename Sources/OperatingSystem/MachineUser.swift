#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A user of the machine.
package struct MachineUser: Sendable, Equatable {
    /// Why a process cannot become a user.
    package struct Failure: Error, Sendable, CustomStringConvertible {
        /// The error of the system.
        package let description: String
    }

    package let name: String
    /// The uid.
    package let id: UInt32
    /// The gid of its primary group.
    package let group: UInt32
    /// Its home folder, where libpq looks for a password file.
    package let home: String

    /// The user with a name; nil if there is none.
    package init?(named name: String) {
        guard let entry = getpwnam(name) else { return nil }
        self.init(entry.pointee)
    }

    /// The user with a uid; nil if there is none.
    package init?(id: UInt32) {
        guard let entry = getpwuid(id) else { return nil }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        id = entry.pw_uid
        group = entry.pw_gid
        home = String(cString: entry.pw_dir)
    }

    /// The user that this process runs as.
    package static var current: MachineUser? { MachineUser(id: geteuid()) }

    /// Whether this process runs as root.
    package static var isRoot: Bool { geteuid() == 0 }

    /// Permanently switches this process to the user: its groups, its uid, and its home in the environment.
    ///
    /// - Throws: ``Failure`` if the system refuses; the process should then exit.
    package func become() throws(Failure) {
        #if canImport(Darwin)
        let base = Int32(bitPattern: group)
        #else
        let base = group
        #endif
        // The groups first: they cannot be changed after the uid.
        guard initgroups(name, base) == 0, setgid(group) == 0, setuid(id) == 0 else {
            throw Failure(description: String(cString: strerror(errno)))
        }
        guard id == 0 || setuid(0) != 0 else {
            throw Failure(description: "the process could regain the rights of root")
        }
        for (variable, value) in [("HOME", home), ("USER", name), ("LOGNAME", name)] { setenv(variable, value, 1) }
    }

    /// The uid of the owner of a file or folder; nil if it cannot be read.
    package static func owner(of path: String) -> UInt32? {
        var figures = stat()
        return stat(path, &figures) == 0 ? figures.st_uid : nil
    }

    /// Why this process may not write into a folder, or create it if it does not exist; nil if it may.
    package static func problemOfWriting(into folder: String) -> String? {
        var place = folder
        while access(place, F_OK) != 0, errno == ENOENT, place != "/", !place.isEmpty {
            let parent = place.split(separator: "/").dropLast().joined(separator: "/")
            place = "/" + parent
        }
        var figures = stat()
        guard stat(place, &figures) == 0 else { return "\(place): \(String(cString: strerror(errno)))" }
        guard figures.st_mode & S_IFMT == S_IFDIR else { return "\(place) is not a folder" }
        guard access(place, W_OK | X_OK) != 0 else { return nil }
        return "\(place): \(String(cString: strerror(errno)))"
    }

    /// The first folder on a path that this process may not enter; nil if there is none.
    package static func folderClosed(on path: String) -> String? {
        var place = ""
        for name in path.split(separator: "/").dropLast() {
            place += "/\(name)"
            var figures = stat()
            guard stat(place, &figures) == 0, figures.st_mode & S_IFMT == S_IFDIR else { return nil }
            if access(place, X_OK) != 0 { return place }
        }
        return nil
    }

    /// Whether every user of the machine may create files in a folder.
    package static func isEverybodys(_ folder: String) -> Bool {
        var figures = stat()
        return stat(folder, &figures) == 0 && figures.st_mode & S_IFMT == S_IFDIR && figures.st_mode & S_IWOTH != 0
    }
}
