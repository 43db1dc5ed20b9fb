import Foundation

/// What a path is and whose, links not followed.
struct FileOwnership: Sendable, Equatable {
    /// Whether it is a folder itself, not a link to one.
    let isFolder: Bool
    /// The numeric id of its owner.
    let owner: UInt32
    /// Its permissions.
    let permissions: UInt32

    /// Looks at a path; `nil` if there is nothing.
    init?(_ path: String) {
        // `attributesOfItem` does not follow a link in the last part of the path.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = attributes[.ownerAccountID] as? NSNumber,
            let permissions = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
        self.owner = owner.uint32Value
        self.permissions = permissions.uint32Value
    }

    /// Whether it is a folder of this user that nobody else can write in.
    var isOwnFolder: Bool { isFolder && owner == getuid() && permissions & 0o022 == 0 }
}
