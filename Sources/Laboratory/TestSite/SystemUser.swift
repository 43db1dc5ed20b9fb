import Foundation

/// A user of this machine.
struct SystemUser: Sendable, Equatable {
    /// The login name.
    let name: String
    let userID: UInt32
    /// The id of the user's main group.
    let groupID: UInt32

    /// Whether this user may enter a folder and all its parents, as far as they exist.
    func mayEnter(_ folder: String) -> Bool {
        var path = folder
        while path.count > 1 {
            if let one = FileOwnership(path) {
                let bit: UInt32 = one.owner == userID ? 0o100 : one.group == groupID ? 0o010 : 0o001
                guard !one.isFolder || one.permissions & bit != 0 else { return false }
            }
            path = (path as NSString).deletingLastPathComponent
        }
        return true
    }

    /// The user with this login name, from `/etc/passwd`; `nil` if there is none.
    init?(named name: String) {
        guard let list = try? String(contentsOfFile: "/etc/passwd", encoding: .utf8) else { return nil }
        for line in list.split(separator: "\n") {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count > 3, fields[0] == name, let user = UInt32(fields[2]), let group = UInt32(fields[3])
            else { continue }
            self.name = name
            userID = user
            groupID = group
            return
        }
        return nil
    }
}
