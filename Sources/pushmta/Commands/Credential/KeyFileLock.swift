import Foundation
import Gateways
import Store

/// Keeps other processes that see the same key file from it, whatever database they work with: a lock on a file beside it, which
/// ends with its holder however that ends.
enum KeyFileLock {
    /// Whoever waits longer waits for somebody who is stuck.
    private static let patience = Duration.seconds(60)
    /// The time between two attempts.
    private static let lookInterval = Duration.milliseconds(20)

    /// The file beside a key file; the key file itself is another one after each rotation.
    static func path(of keyFile: String) -> String { CredentialKeyFile.target(keyFile) + ".lock" }

    /// Does something under the lock.
    ///
    /// - Throws: `CommandFailure` if others have it for too long, or if it cannot be taken by somebody who needs it: who seals
    ///   may lack the right to write beside the file, and has the database's lock.
    static func with<T: Sendable>(
        _ source: CredentialKeySource,
        for use: CredentialKeyUse,
        _ body: () async throws -> T
    ) async throws -> T {
        let (descriptor, trouble) = open(path(of: source.path))
        guard descriptor >= 0 else {
            guard use == .sealing || source.isSystemds else {
                throw CommandFailure(
                    .data,
                    "\(path(of: source.path)) cannot be written, without which nobody may change the key: \(String(cString: strerror(trouble))). Check the folder and your rights there."
                )
            }
            return try await body()
        }
        // The lock goes with its last descriptor.
        defer { close(descriptor) }
        share(descriptor, with: source.path)
        try await take(use == .rotating ? LOCK_EX : LOCK_SH, descriptor, source.path)
        return try await body()
    }

    private static func take(_ operation: Int32, _ descriptor: Int32, _ path: String) async throws {
        let deadline = ContinuousClock.now + patience
        while flock(descriptor, operation | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else {
                throw CommandFailure(
                    .unavailable,
                    "\(Self.path(of: path)) cannot be locked: \(String(cString: strerror(errno)))."
                )
            }
            guard .now < deadline else {
                throw CommandFailure(
                    .temporary,
                    "Another command has been working with the key file \(path) for a minute: wait for its end, and call this again."
                )
            }
            try await Task.sleep(for: lookInterval)
        }
    }

    /// Opens the lock's file; a network's file system locks only what is open for writing.
    ///
    /// - Returns: the descriptor, below 0 for none, and then what the trouble is.
    private static func open(_ path: String) -> (descriptor: Int32, trouble: Int32) {
        let made = Foundation.open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard made < 0 else { return (made, 0) }
        let trouble = errno
        return (Foundation.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), trouble)
    }

    /// What root has made is the key file's owner's to lock as well.
    private static func share(_ descriptor: Int32, with keyFile: String) {
        guard geteuid() == 0,
            let attributes = try? FileManager.default.attributesOfItem(atPath: CredentialKeyFile.target(keyFile)),
            let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value,
            let group = (attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value
        else { return }
        _ = fchown(descriptor, owner, group)
    }
}

extension CredentialKeySource {
    /// Does something with the key while nobody else does what would not go with it, on this host or on another one.
    func locked<T: Sendable>(
        for use: CredentialKeyUse,
        _ store: Store,
        _ body: (CredentialKeyLock) async throws -> T
    ) async throws -> T {
        // Everybody takes them in this order.
        try await KeyFileLock.with(self, for: use) { try await store.withCredentialKey(for: use, body) }
    }
}
