import Foundation

/// A user of this machine.
struct SystemUser: Sendable, Equatable {
    /// The login name.
    let name: String
    /// The numeric id.
    let userID: UInt32
    /// The id of the user's main group.
    let groupID: UInt32

    /// The user with this login name, read from the machine's list; `nil` if there is none.
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
