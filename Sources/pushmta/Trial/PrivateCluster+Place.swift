import Foundation

extension PrivateCluster {
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
