import Foundation

/// The type and ownership of a path, without following links.
struct FileOwnership: Sendable, Equatable {
    /// Whether it is a folder, not a link to one.
    let isFolder: Bool
    /// The owner's numeric id.
    let owner: UInt32
    /// The group's numeric id.
    let group: UInt32
    let permissions: UInt32

    /// Reads a path's attributes; `nil` if it does not exist.
    init?(_ path: String) {
        // `attributesOfItem` does not follow a link in the last path component.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let owner = attributes[.ownerAccountID] as? NSNumber,
            let group = attributes[.groupOwnerAccountID] as? NSNumber,
            let permissions = attributes[.posixPermissions] as? NSNumber
        else { return nil }
        isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
        self.owner = owner.uint32Value
        self.group = group.uint32Value
        self.permissions = permissions.uint32Value
    }

    /// Whether it is this user's folder and no other user can write to it.
    var isOwnFolder: Bool { isFolder && owner == getuid() && permissions & 0o022 == 0 }
}
