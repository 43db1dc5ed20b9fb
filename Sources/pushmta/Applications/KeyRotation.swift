import Administration
import Foundation
import Gateways
import PushCore
import Store

/// Brings all credentials under another key, step by step; each step leaves everything readable.
///
/// All of it is done under the lock of the key: two at once would each write a file without the other's key, and what has been
/// sealed under a key that is in no file is lost for good.
struct KeyRotation: Sendable {
    private let store: Store
    private let source: CredentialKeySource
    private let lock: CredentialKeyLock

    /// Does something with the key while nobody else does.
    static func run(_ store: Store, _ settings: Settings, _ body: (KeyRotation) async throws -> Void) async throws {
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Loading says what is missing.
            _ = try CredentialKeyFile.keyring(settings)
            throw CommandFailure(.configuration, "There is no key file.")
        }
        // Whoever has no key finds that out before anything is made beside it.
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

    /// The keys now.
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

    /// Whether nothing is left of an earlier rotation, so that a new one begins.
    var isDue: Bool {
        get async throws {
            let current = try keys.current.keyID
            return try await store.sealedItems().allSatisfy { $0.sealKeyID == current }
        }
    }

    /// Makes the new key; returns whether credentials can be sealed under it now.
    func begin(output: String?, waits: Bool, prepareOnly: Bool) async throws -> Bool {
        let before = try contents()
        let text = CredentialKeyring.text(adding: CredentialCipher.newKeyText(), to: before)
        if source.isSystemds, output == nil {
            throw CommandFailure(
                .configuration,
                "The key is systemd's credential \(CredentialKeySource.systemdName), which cannot be changed here: give --output FILE, make that file the credential on every host, and call this again."
            )
        }
        if let output {
            try CredentialKeyFile.create(at: output, text: text)
            StandardOutput.line(
                "\(output) holds a new key and the old ones. Make it the key file of every host (credentialKeyFile, or systemd's credential), restart the supervisors, then call this again without --output."
            )
            return false
        }
        try await CredentialKeyFile.replace(source.path, before, with: text, lock)
        StandardOutput.line("\(source.path) has a new key, \(try keys.current.keyID), before the old one.")
        let others = waits ? try await otherHosts() : []
        if others.isEmpty, !prepareOnly { return true }
        let hosts = others.isEmpty ? "every other host" : others.joined(separator: ", ")
        StandardOutput.line(
            "Copy it to \(hosts), then call this again: only then can each of them open what is sealed under the new key. (--shared says that all hosts read this very file.)"
        )
        return false
    }

    /// Seals every credential that is not yet under the current key.
    ///
    /// - Parameter keepsOld: whether the old keys stay, which is told.
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
                ? "Every credential is sealed under the key \(key) already."
                : "\(sealed) of \(total) credentials were sealed again under the key \(key)."
        )
        guard failures.isEmpty else {
            throw CommandFailure(
                .negative,
                "\(failures.count) credentials are still under another key: " + failures.joined(separator: " ")
            )
        }
        if keepsOld, !keys.earlier.isEmpty {
            let old = keys.earlier.map(\.keyID).joined(separator: ", ")
            StandardOutput.line(
                "The key file still has the key \(old), which opens copies of the database made until now; `pushmta credential rotate-key --drop-old` takes it out."
            )
        }
    }

    /// Seals one credential anew; false if somebody else has.
    private func seal(_ id: Int64, _ keys: CredentialKeyring) async throws -> Bool {
        // Whoever sets the credential meanwhile makes another of it, and deletes this one.
        while let row = try await store.sealedItem(id), row.sealKeyID != keys.current.keyID {
            let material = try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: id)
            let sealed = try keys.current.seal(material, credentialID: id)
            if try await store.reseal(id, from: row.sealKeyID, to: keys.current.keyID, sealed: sealed) {
                return true
            }
        }
        return false
    }

    /// Makes sure that the file holds the key under which credentials have just been sealed: here is the last copy of it, if
    /// something that knows no lock has put another file in its place.
    private func keep(_ keyID: String, of text: String) async throws {
        if let keys = try? keys, keys.keyIDs.contains(keyID) { return }
        let lost = "Something else than this program has changed \(source.path) while credentials were sealed"
        if !source.isSystemds, (try? keys) != nil, let now = try? contents() {
            let whole = CredentialKeyring.text(completing: now, from: text)
            try await CredentialKeyFile.replace(source.path, now, with: whole, lock)
            throw CommandFailure(
                .negative,
                "\(lost). The key \(keyID), under which they are now, was put back behind its keys: call this again."
            )
        }
        let copy = CredentialKeyFile.target(source.path) + "." + keyID
        let place = source.isSystemds ? FileManager.default.currentDirectoryPath + "/\(keyID).key" : copy
        try CredentialKeyFile.create(at: place, text: text)
        throw CommandFailure(
            .negative,
            "\(lost). The key \(keyID), under which they are now, is in \(place) alone: make that the key file again, of every host."
        )
    }

    /// Takes the keys out of the file under which nothing is sealed any more.
    func dropOld() async throws {
        guard !source.isSystemds else {
            throw CommandFailure(
                .configuration,
                "The key is systemd's credential \(CredentialKeySource.systemdName), which cannot be changed here: take the lines after the first out of its file."
            )
        }
        let before = try contents()
        let current = try keys.current.keyID
        try await requireAll(under: current)
        let after = CredentialKeyring.textOfCurrentKey(in: before)
        try await CredentialKeyFile.replace(source.path, before, with: after, lock)
        do {
            // A host with an older program knows no lock.
            try await requireAll(under: current)
        } catch {
            try await CredentialKeyFile.replace(source.path, after, with: before, lock)
            throw error
        }
        StandardOutput.line("\(source.path) has the key \(current) alone now.")
    }

    private func requireAll(under keyID: String) async throws {
        let others = try await store.sealedItems().filter { $0.sealKeyID != keyID }
        guard !others.isEmpty else { return }
        let names = others.map { "\($0.id) (\($0.owner))" }.joined(separator: ", ")
        throw CommandFailure(
            .negative,
            "Credentials were sealed meanwhile under a key that was to be dropped: \(names). The key file keeps its keys: see that every host has it, and call this again."
        )
    }

    private func contents() throws -> String {
        _ = try keys
        return try String(contentsOfFile: source.path, encoding: .utf8)
    }

    /// Hosts that run besides this one.
    private func otherHosts() async throws -> [String] {
        let own = ProcessInfo.processInfo.hostName
        return try await store.hosts().filter(\.isHeardOf)
            .map(\.report.name).filter { $0 != own }
    }
}
