#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A user of the machine.
public struct MachineUser: Sendable, Equatable {
    /// Why a process cannot become a user.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What the system says.
        public let description: String
    }

    public let name: String
    /// The uid.
    public let id: UInt32
    /// The number of its first group.
    public let group: UInt32
    /// Its home, where libpq looks for a password file.
    public let home: String

    /// The user of a name; nil if there is none.
    public init?(named name: String) {
        guard let entry = getpwnam(name) else { return nil }
        self.init(entry.pointee)
    }

    /// The user of a number; nil if nobody has it.
    public init?(id: UInt32) {
        guard let entry = getpwuid(id) else { return nil }
        self.init(entry.pointee)
    }

    private init(_ entry: passwd) {
        name = String(cString: entry.pw_name)
        id = entry.pw_uid
        group = entry.pw_gid
        home = String(cString: entry.pw_dir)
    }

    /// The user whose rights this process has.
    public static var current: MachineUser? { MachineUser(id: geteuid()) }

    /// Whether this process may do everything.
    public static var isRoot: Bool { geteuid() == 0 }

    /// Gives this process the rights of the user, for good: its groups, its number, and its home in the environment.
    ///
    /// - Throws: ``Failure`` if the system does not let it; the process should end then.
    public func become() throws(Failure) {
        #if canImport(Darwin)
        let base = Int32(bitPattern: group)
        #else
        let base = group
        #endif
        // The groups first: after the number nothing may be changed any more.
        guard initgroups(name, base) == 0, setgid(group) == 0, setuid(id) == 0 else {
            throw Failure(description: String(cString: strerror(errno)))
        }
        guard id == 0 || setuid(0) != 0 else { throw Failure(description: "the rights of root could be taken back") }
        for (variable, value) in [("HOME", home), ("USER", name), ("LOGNAME", name)] { setenv(variable, value, 1) }
    }

    /// The owner of a file or folder; nil if it cannot be seen.
    public static func owner(of path: String) -> UInt32? {
        var figures = stat()
        return stat(path, &figures) == 0 ? figures.st_uid : nil
    }

    /// Whether this process may write into a folder, or make it where it is not there yet; why not, if not.
    public static func problemOfWriting(into folder: String) -> String? {
        var place = folder
        while access(place, F_OK) != 0, errno == ENOENT, place != "/", !place.isEmpty {
            let parent = place.split(separator: "/").dropLast().joined(separator: "/")
            place = "/" + parent
        }
        var figures = stat()
        guard stat(place, &figures) == 0 else { return "\(place): \(String(cString: strerror(errno)))" }
        guard figures.st_mode & S_IFMT == S_IFDIR else { return "\(place) is no folder" }
        guard access(place, W_OK | X_OK) != 0 else { return nil }
        return "\(place): \(String(cString: strerror(errno)))"
    }

    /// The first folder on the way to this one that this process may not enter, whatever lies in it; nil if there is none.
    public static func folderClosed(on path: String) -> String? {
        var place = ""
        for name in path.split(separator: "/").dropLast() {
            place += "/\(name)"
            var figures = stat()
            guard stat(place, &figures) == 0, figures.st_mode & S_IFMT == S_IFDIR else { return nil }
            if access(place, X_OK) != 0 { return place }
        }
        return nil
    }

    /// Whether every user of the machine may make files in a folder.
    public static func isEverybodys(_ folder: String) -> Bool {
        var figures = stat()
        return stat(folder, &figures) == 0 && figures.st_mode & S_IFMT == S_IFDIR && figures.st_mode & S_IWOTH != 0
    }
}
