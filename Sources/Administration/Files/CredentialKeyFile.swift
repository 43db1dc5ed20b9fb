import Foundation
import Gateways
import OperatingSystem
import PushCore
import Store
import SystemPackage

/// The file with the key under which credentials are sealed.
package enum CredentialKeyFile {
    /// Makes a file with a new key, readable by its owner only. Never overwrites one.
    package static func create(at path: String) throws {
        try create(at: path, text: CredentialCipher.newKeyText() + "\n")
    }

    /// Makes a file with a new key unless one with keys is there already, which is kept: instructions may be followed twice.
    ///
    /// - Returns: whether it made one.
    package static func createUnlessThere(at path: String) throws -> Bool {
        guard FileManager.default.fileExists(atPath: path) else {
            try create(at: path)
            return true
        }
        guard let text = try? String(contentsOfFile: path, encoding: .utf8), (try? CredentialKeyring(text: text)) != nil
        else {
            throw CommandFailure(
                .data,
                "\(path) is there already, and no key can be read from it. It stays as it is: name another file, or move it away."
            )
        }
        return false
    }

    /// Makes a file with these keys, readable by its owner only. Never overwrites one.
    package static func create(at path: String, text: String) throws {
        switch DurableFile.create(path, text) {
        case .done: return
        case .exists:
            throw CommandFailure(
                .data,
                "\(path) exists already: credentials may be sealed under the key in it. Name another file, or remove it yourself."
            )
        case .failed(let reason):
            throw CommandFailure(
                .data,
                "\(path) cannot be written, \(reason): check its folder and your rights there."
            )
        }
    }

    /// The file itself where its path is a link to it.
    package static func target(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// Puts other keys into a file, in one step and with the owner and the rights that it has: whoever reads it finds the keys
    /// before or these, and a power cut loses neither.
    ///
    /// - Parameters:
    ///   - before: what it holds; if it holds anything else, nothing is changed.
    ///   - lock: keeps others from it; a lost one means that others may have changed it, and nothing is changed.
    package static func replace(_ path: String, _ before: String, with text: String, _ lock: CredentialKeyLock)
        async throws
    {
        let target = target(path)
        let temporary = temporary(target)
        removeLeftovers(of: target)
        do {
            try prepare(temporary, text, like: target, path)
            try await lock.verify()
            // Others than this program may write to it: an editor, a tool that copies it.
            guard (try? String(contentsOfFile: target, encoding: .utf8)) == before else {
                throw CommandFailure(
                    .temporary,
                    "\(path) has just been changed by somebody else. Nothing has been changed: look at it, and call this again."
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
                "\(path) holds other keys now, and its disk does not say that it keeps them: check the disk, then call this again."
            )
        }
    }

    private static func prepare(_ temporary: String, _ text: String, like target: String, _ path: String) throws {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: target) else {
            throw trouble(path, "it is not there")
        }
        let kept = attributes.filter {
            [.posixPermissions, .ownerAccountID, .groupOwnerAccountID].contains($0.key)
        }
        switch DurableFile.create(temporary, text) {
        case .done: break
        case .exists: throw trouble(path, "\(temporary) is there")
        case .failed(let reason): throw trouble(path, reason)
        }
        do {
            try FileManager.default.setAttributes(kept, ofItemAtPath: temporary)
        } catch {
            throw trouble(path, "its owner and rights cannot be given to a new file")
        }
    }

    private static func trouble(_ path: String, _ reason: String) -> CommandFailure {
        CommandFailure(
            .data,
            "\(path) cannot be written, \(reason): check its folder and your rights there. Nothing has been changed."
        )
    }

    /// The digits that tell a run's temporary file from those of others.
    private static let temporaryDigits = 16
    private static let temporaryEnding = ".keys"

    /// A name that no other run has, beside the file: a rename works within a file system only.
    private static func temporary(_ target: String) -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        let name = String(repeating: "0", count: temporaryDigits - digits.count) + digits + temporaryEnding
        return folder(target) + "/" + prefix(target) + name
    }

    /// What runs that were killed have left: keys should not lie about. Whoever gets here has the lock, so they are nobody's.
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

    /// The keys of the settings' file, or of systemd's credential.
    package static func keyring(_ settings: Settings) throws -> CredentialKeyring {
        do {
            return try CredentialKeySource.load(settings, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }
}

/// Keeps other processes that see the same key file from it, whatever database they work with: a lock on a file beside it, which
/// ends with its holder however that ends.
package enum KeyFileLock {
    /// Whoever waits longer waits for somebody who is stuck.
    private static let timeout = Duration.seconds(60)
    /// The time between two attempts.
    private static let lookInterval = Duration.milliseconds(20)

    /// The file beside a key file; the key file itself is another one after each rotation.
    package static func path(of keyFile: String) -> String { CredentialKeyFile.target(keyFile) + ".lock" }

    /// Does something under the lock.
    ///
    /// - Throws: `CommandFailure` if others have it for too long, or if it cannot be taken by somebody who needs it: who seals
    ///   may lack the right to write beside the file, and has the database's lock.
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
                    "\(path(of: source.path)) cannot be written, so the key cannot be changed: \(error). Run this as the user who owns that folder. If that is root, move the key into a folder of the service's user (install -d -o USER -m 700 FOLDER) and name it in credentialKeyFile."
                )
            }
            return try await body()
        }
        // The lock goes with its last descriptor.
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
                    "Another command has been working with the key file \(path) for a minute: wait for its end, and call this again."
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

    /// Opens the lock's file; a network's file system locks only what is open for writing.
    private static func open(_ path: FilePath) throws -> FileDescriptor {
        do {
            return try FileDescriptor.open(
                path,
                .readWrite,
                options: [.create, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite
            )
        } catch {
            // What keeps it from being written is what a person has to know.
            guard let file = try? FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow]) else {
                throw error
            }
            return file
        }
    }

    /// What root has made is the key file's owner's to lock as well.
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
    /// Does something with the key while nobody else does what would not go with it, on this host or on another one.
    package func locked<T: Sendable>(
        for use: CredentialKeyUse,
        _ store: Store,
        _ body: (CredentialKeyLock) async throws -> T
    ) async throws -> T {
        // Everybody takes them in this order.
        try await KeyFileLock.with(self, for: use) { try await store.withCredentialKey(for: use, body) }
    }
}
