import Foundation
import Gateways
import OperatingSystem
import PushCore
import Store
import SystemPackage

/// The file that holds the keys which seal credentials.
package enum CredentialKeyFile {
    /// Creates a file with a new key, readable by its owner only. Never overwrites a file.
    package static func create(at path: String) throws {
        try create(at: path, text: CredentialCipher.newKeyText() + "\n")
    }

    /// Creates a file with a new key unless one with keys exists, which is kept. Instructions may be followed twice.
    ///
    /// - Returns: whether it created the file.
    package static func createUnlessThere(at path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else {
            try create(at: path)
            return true
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), (try? CredentialKeyring(text: text)) != nil
        else {
            throw CommandFailure(
                .data,
                "\(path) already exists, but no key can be read from it. It was left unchanged: name another file, or move this one away."
            )
        }
        return false
    }

    /// Creates a file with these keys, readable by its owner only. Never overwrites a file.
    package static func create(at path: String, text: String) throws {
        switch DurableFile.create(path, text) {
        case .done: return
        case .exists:
            throw CommandFailure(
                .data,
                "\(path) already exists: credentials may be sealed under the key in it. Name another file, or remove this one yourself."
            )
        case .failed(let reason):
            throw CommandFailure(
                .data,
                "\(path) cannot be written, \(reason): check its folder and your rights there."
            )
        }
    }

    /// The file itself if its path is a symbolic link to it.
    package static func target(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// Replaces the keys of a file in one step, keeping its owner and permissions. A reader finds either the old keys
    /// or the new ones, and a power cut loses neither.
    ///
    /// - Parameters:
    ///   - before: the expected contents; if the file holds anything else, nothing is changed.
    ///   - lock: keeps other processes out. If it was lost, others may have changed the file, and nothing is changed.
    package static func replace(_ path: String, _ before: String, with text: String, _ lock: CredentialKeyLock)
        async throws
    {
        let target = target(path)
        let temporary = temporary(target)
        removeLeftovers(of: target)
        do {
            try prepare(temporary, text, like: target, path)
            try await lock.verify()
            // Other programs may write to it: an editor, or a tool that copies it.
            guard (try? String(contentsOfFile: target, encoding: .utf8)) == before else {
                throw CommandFailure(
                    .temporary,
                    "\(path) was just changed by another program. Nothing was replaced: check the file, then run this command again."
                )
            }
            guard rename(temporary, target) == 0 else {
                throw trouble(path, String(cString: strerror(errno)))
            }
        } catch {
            unlink(temporary)
            throw error
        }
        guard DurableFile.syncFolder(of: target) else {
            throw CommandFailure(
                .unavailable,
                "\(path) holds the new keys, but they could not be flushed to disk: check the disk, then run this command again."
            )
        }
    }

    private static func prepare(_ temporary: String, _ text: String, like target: String, _ path: String) throws {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else {
            throw trouble(path, "it does not exist")
        }
        let kept = attributes.filter {
            [.posixPermissions, .ownerAccountID, .groupOwnerAccountID].contains($0.key)
        }
        switch DurableFile.create(temporary, text) {
        case .done: break
        case .exists: throw trouble(path, "\(temporary) already exists")
        case .failed(let reason): throw trouble(path, reason)
        }
        do {
            try FileManager.default.setAttributes(kept, ofItemAtPath: temporary)
        } catch {
            throw trouble(path, "its owner and permissions cannot be copied to a new file")
        }
    }

    private static func trouble(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(
            .data,
            "\(path) cannot be written, \(reason): check its folder and your permissions there. Nothing was changed."
        )
    }

    /// The number of hexadecimal digits that distinguish the temporary file of one run from those of others.
    private static let temporaryDigits = 16
    private static let temporaryEnding = ".keys"

    /// A name next to the file that no other run uses: a rename works only within a file system.
    private static func temporary(_ target: String) -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let name = String(repeating: "0", count: temporaryDigits - digits.count) + digits + temporaryEnding
        return folder(target) + "/" + prefix(target) + name
    }

    /// Removes what killed runs left behind: keys must not lie around. The caller holds the lock, so no running
    /// process owns these files.
    private static func removeLeftovers(of target: String) {
        let prefix = prefix(target)
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder(target))) ?? [] {
            guard name.hasPrefix(prefix), name.hasSuffix(temporaryEnding) else { continue }
            let digits = name.dropFirst(prefix.count).dropLast(temporaryEnding.count)
            guard digits.count == temporaryDigits, digits.allSatisfy(\.isHexDigit) else { continue }
            unlink(folder(target) + "/" + name)
        }
    }

    private static func prefix(_ target: String) -> String {
        "." + URL(fileURLWithPath: target).lastPathComponent + "."
    }

    private static func folder(_ target: String) -> String {
        URL(fileURLWithPath: target).deletingLastPathComponent().path
    }

    /// The keys from the file named in the settings, or from systemd's credential.
    package static func keyring(_ settings: Settings) throws -> CredentialKeyring {
        do {
            return try CredentialKeySource.load(settings, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }
}

/// Keeps other processes away from a key file, whichever database they use: a lock on a file next to it. The kernel
/// releases the lock when its holder ends, however that happens.
package enum KeyFileLock {
    /// A longer wait means that the holder is stuck.
    private static let timeout = Duration.seconds(60)
    /// The interval between two attempts.
    private static let lookInterval = Duration.milliseconds(20)

    /// The lock file next to a key file. The key file itself is a new file after each rotation.
    package static func path(of keyFile: String) -> String { CredentialKeyFile.target(keyFile) + ".lock" }

    /// Runs `body` under the lock.
    ///
    /// - Throws: `CommandFailure` if others hold the lock for too long, or if a caller that must have it cannot take
    ///   it. A sealing process may lack the right to write next to the file; it then relies on the database's lock.
    package static func with<T: Sendable>(
        _ source: CredentialKeySource,
        for use: CredentialKeyUse,
        _ body: () async throws -> T
    ) async throws -> T {
        let file: FileDescriptor
        do {
            file = try open(FilePath(path(of: source.path)))
        } catch {
            guard use == .sealing || source.isSystemds else {
                throw CommandFailure(
                    .data,
                    "\(path(of: source.path)) cannot be written, so the key cannot be changed: \(error). Run this command as the user that owns that folder. If that is root, move the key into a folder owned by the service's user (install -d -o USER -m 700 FOLDER) and name it in credentialKeyFile."
                )
            }
            return try await body()
        }
        // Closing the last descriptor releases the lock.
        defer { try? file.close() }
        share(file, with: source.path)
        try await take(file, shared: use != .rotating, source.path)
        return try await body()
    }

    private static func take(_ file: FileDescriptor, shared: Bool, _ path: String) async throws {
        let deadline = ContinuousClock.now + timeout
        while try !lock(file, shared: shared, path) {
            guard .now < deadline else {
                throw CommandFailure(
                    .temporary,
                    "Another command has been working with the key file \(path) for a minute: wait until it ends, then run this command again."
                )
            }
            try await Task.sleep(for: lookInterval)
        }
    }

    private static func lock(_ file: FileDescriptor, shared: Bool, _ path: String) throws -> Bool {
        do {
            return try file.tryLock(shared: shared)
        } catch {
            throw CommandFailure(.unavailable, "\(Self.path(of: path)) cannot be locked: \(error).")
        }
    }

    /// Opens the lock file. A network file system locks only files that are open for writing.
    private static func open(_ path: FilePath) throws -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                path,
                .readWrite,
                options: [.create, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite
            )
        } catch {
            // The user needs to know why it cannot be written.
            guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow]) else {
                throw error
            }
            return file
        }
    }

    /// If root created the lock file, lets the owner of the key file lock it as well.
    private static func share(_ file: FileDescriptor, with keyFile: String) {
        guard geteuid() == 0,
            let attributes = try? FileManager.default.attributesOfItem(atPath: CredentialKeyFile.target(keyFile)),
            let owner = (attributes[.ownerAccountID] as? NSNumber)?.uint32Value,
            let group = (attributes[.groupOwnerAccountID] as? NSNumber)?.uint32Value
        else { return }
        _ = fchown(file.rawValue, owner, group)
    }
}

extension CredentialKeySource {
    /// Runs `body` with the key while no conflicting operation runs, on this host or another one.
    package func locked<T: Sendable>(
        for use: CredentialKeyUse,
        _ store: Store,
        _ body: (CredentialKeyLock) async throws -> T
    ) async throws -> T {
        // Every process takes the two locks in this order.
        try await KeyFileLock.with(self, for: use) { try await store.withCredentialKey(for: use, body) }
    }
}
