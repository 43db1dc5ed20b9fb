import Foundation

extension PrivateCluster {
    /// Whether there is a folder that this user, or the server's, has made: as everybody may write where it lies, it may be
    /// another's.
    var isOwn: Bool {
        guard let ownership = FileOwnership(folder) else { return false }
        return ownership.isFolder && ownership.owner == user?.userID ?? getuid() && ownership.permissions & 0o022 == 0
    }

    /// The folder of the cluster of a site: short, as the path of a socket has 107 bytes at most.
    static func folder(forSite folder: String) -> String {
        "/tmp/pushmta-\(getuid())-\(shortName(of: folder))"
    }

    /// Eight hexadecimal digits that tell folders apart (FNV-1a).
    private static func shortName(of path: String) -> String {
        let hash = path.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let text = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
        return String(repeating: "0", count: 8 - text.count) + text
    }
}
