import Administration
import Foundation
import Gateways
import PushCore
import Store

/// Reseals all credentials with another key, step by step; after each step everything can still be opened.
///
/// Everything runs under the key lock. Two concurrent rotations would each write a file without the other's key, and
/// what was sealed with a key that is in no file is lost permanently.
struct KeyRotation: Sendable {
    private let store: Store
    private let source: CredentialKeySource
    private let lock: CredentialKeyLock

    /// Runs `body` while no other process works with the key.
    static func run(_ store: Store, _ settings: Settings, _ body: (KeyRotation) async throws -> Void) async throws {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Loading reports what is missing.
            _ = try CredentialKeyFile.keyring(settings)
            throw CommandFailure(.configuration, "There is no key file.")
        }
        // Fail for a missing key before the lock file is created next to it.
        _ = try Self.keys(source)
        try await source.locked(for: .rotating, store) { lock in
            try await body(KeyRotation(store: store, source: source, lock: lock))
        }
    }

    private init(store: Store, source: CredentialKeySource, lock: CredentialKeyLock) {
        self.store = store
        self.source = source
        self.lock = lock
    }

    /// The present keys.
    var keys: CredentialKeyring {
        get throws { try Self.keys(source) }
    }

    private static func keys(_ source: CredentialKeySource) throws -> CredentialKeyring {
        do {
            return try source.load()
        } catch {
            throw CommandFailure(.configuration, "\(error)")
        }
    }

    /// Whether nothing is left of an earlier rotation, so that a new one can begin.
    var isDue: Bool {
        get async throws {
            let current = try keys.current.keyID
            return try await store.sealedItems().allSatisfy { $0.sealKeyID == current }
        }
    }

    /// Creates the new key. Returns whether credentials can be sealed with it now.
    func begin(output: String?, waits: Bool, prepareOnly: Bool) async throws -> Bool {
        let before = try contents()
        let text = CredentialKeyring.text(adding: CredentialCipher.newKeyText(), to: before)
        if source.isSystemds, output == nil {
            throw CommandFailure(
                .configuration,
                "The key is systemd's credential \(CredentialKeySource.systemdName), which cannot be changed here. Give --output FILE, make that file the credential on every host, then run this command again."
            )
        }
        if let output {
            try CredentialKeyFile.create(at: output, text: text)
            StandardOutput.line(
                "\(output) holds a new key and the old ones. Make it the key file of every host (credentialKeyFile, or systemd's credential), restart the supervisors, then run this command again without --output."
            )
            return false
        }
        try await CredentialKeyFile.replace(source.path, before, with: text, lock)
        StandardOutput.line("\(source.path) has a new key, \(try keys.current.keyID), before the old one.")
        let others = waits ? try await otherHosts() : []
        if others.isEmpty, !prepareOnly { return true }
        let hosts = others.isEmpty ? "every other host" : others.joined(separator: ", ")
        StandardOutput.line(
            "Copy it to \(hosts), then run this command again: until then, these hosts cannot open what is sealed with the new key. (Use --shared if all hosts read this same file.)"
        )
        return false
    }

    /// Seals every credential that is not yet sealed with the current key.
    ///
    /// - Parameter keepsOld: whether the old keys stay, which is reported.
    func seal(keepsOld: Bool) async throws {
        let text = try contents()
        let keys = try keys
        var sealed = 0
        var failures: [String] = []
        for notice in try await store.sealedItems() where notice.sealKeyID != keys.current.keyID {
            do {
                if try await seal(notice.id, keys) { sealed += 1 }
            } catch let error as CredentialError {
                failures.append("\(error)")
            }
        }
        try await keep(keys.current.keyID, of: text)
        let total = try await store.sealedItems().count
        let key = keys.current.keyID
        StandardOutput.line(
            sealed == 0 && failures.isEmpty
                ? "Every credential is already sealed with the key \(key)."
                : "\(sealed) of \(total) credentials were resealed with the key \(key)."
        )
        guard failures.isEmpty else {
            throw CommandFailure(
                .negative,
                "\(failures.count) credentials are still sealed with another key: " + failures.joined(separator: " ")
            )
        }
        if keepsOld, !keys.earlier.isEmpty {
            let old = keys.earlier.map(\.keyID).joined(separator: ", ")
            StandardOutput.line(
                "The key file still has the key \(old), which opens earlier copies of the database; `pushmta credential rotate-key --drop-old` removes it."
            )
        }
    }

    /// Reseals one credential; false if another process already has.
    private func seal(_ id: Int64, _ keys: CredentialKeyring) async throws -> Bool {
        // A process that sets the credential meanwhile creates a new one and deletes this one.
        while let row = try await store.sealedItem(id), row.sealKeyID != keys.current.keyID {
            let material = try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: id)
            let sealed = try keys.current.seal(material, credentialID: id)
            if try await store.reseal(id, from: row.sealKeyID, to: keys.current.keyID, sealed: sealed) {
                return true
            }
        }
        return false
    }

    /// Makes sure that the file still holds the key that just sealed the credentials. If a program that ignores the
    /// lock has replaced the file, this process has the last copy of the key.
    private func keep(_ keyID: String, of text: String) async throws {
        if let keys = try? keys, keys.keyIDs.contains(keyID) { return }
        let lost = "Another program changed \(source.path) while credentials were being sealed"
        if !source.isSystemds, (try? keys) != nil, let now = try? contents() {
            let whole = CredentialKeyring.text(completing: now, from: text)
            try await CredentialKeyFile.replace(source.path, now, with: whole, lock)
            throw CommandFailure(
                .negative,
                "\(lost). The key \(keyID), which now seals them, was appended to the file: run this command again."
            )
        }
        let copy = CredentialKeyFile.target(source.path) + "." + keyID
        let place = source.isSystemds ? FileManager.default.currentDirectoryPath + "/\(keyID).key" : copy
        try CredentialKeyFile.create(at: place, text: text)
        throw CommandFailure(
            .negative,
            "\(lost). The key \(keyID), which now seals them, is only in \(place): make that file the key file on every host."
        )
    }

    /// Removes the keys that seal nothing any more from the file.
    func dropOld() async throws {
        guard !source.isSystemds else {
            throw CommandFailure(
                .configuration,
                "The key is systemd's credential \(CredentialKeySource.systemdName), which cannot be changed here: remove all lines after the first from its file."
            )
        }
        let before = try contents()
        let current = try keys.current.keyID
        try await requireAll(under: current)
        let after = CredentialKeyring.textOfCurrentKey(in: before)
        try await CredentialKeyFile.replace(source.path, before, with: after, lock)
        do {
            // A host with an older program ignores the lock.
            try await requireAll(under: current)
        } catch {
            try await CredentialKeyFile.replace(source.path, after, with: before, lock)
            throw error
        }
        StandardOutput.line("\(source.path) now has only the key \(current).")
    }

    private func requireAll(under keyID: String) async throws {
        let others = try await store.sealedItems().filter { $0.sealKeyID != keyID }
        guard !others.isEmpty else { return }
        let names = others.map { "\($0.id) (\($0.owner))" }.joined(separator: ", ")
        throw CommandFailure(
            .negative,
            "Meanwhile, credentials were sealed with a key that was to be dropped: \(names). The key file keeps its keys: make sure that every host has it, then run this command again."
        )
    }

    private func contents() throws -> String {
        _ = try keys
        return try String(contentsOfFile: source.path, encoding: .utf8)
    }

    /// The other hosts that are running.
    private func otherHosts() async throws -> [String] {
        let own = ProcessInfo.processInfo.hostName
        return try await store.hosts().filter(\.isHeardOf)
            .map(\.report.name).filter { $0 != own }
    }
}
