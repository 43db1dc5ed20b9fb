import Foundation
import Gateways
import PushCore
import Store

/// Brings all credentials under another key, step by step; each step leaves everything readable.
struct KeyRotation: Sendable {
    private let store: Store
    private let source: CredentialKeySource

    init(store: Store, settings: Settings) throws {
        self.store = store
        guard let source = CredentialKeySource(settings, environment: ProcessInfo.processInfo.environment) else {
            // Loading says what is missing.
            _ = try CredentialKeyFile.keyring(settings)
            throw CommandFailure(.configuration, "There is no key file.")
        }
        self.source = source
    }

    /// The keys now.
    var keys: CredentialKeyring {
        get throws {
            do {
                return try source.load()
            } catch {
                throw CommandFailure(.configuration, "\(error)")
            }
        }
    }

    /// Whether nothing is left of an earlier rotation, so that a new one begins.
    var isDue: Bool {
        get async throws {
            let current = try keys.current.keyID
            return try await store.credentials().allSatisfy { $0.sealKeyID == current }
        }
    }

    /// Makes the new key; returns whether credentials can be sealed under it now.
    func begin(output: String?, waits: Bool, prepareOnly: Bool) async throws -> Bool {
        let text = CredentialKeyring.text(adding: CredentialCipher.newKeyText(), to: try contents())
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
        try CredentialKeyFile.replace(source.path, text: text)
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
    func seal() async throws {
        let keys = try keys
        var sealed = 0
        var failures: [String] = []
        for notice in try await store.credentials() where notice.sealKeyID != keys.current.keyID {
            do {
                if try await seal(notice.id, keys) { sealed += 1 }
            } catch let error as CredentialError {
                failures.append("\(error)")
            }
        }
        let total = try await store.credentials().count
        StandardOutput.line("\(sealed) of \(total) credentials were sealed anew under the key \(keys.current.keyID).")
        guard failures.isEmpty else {
            throw CommandFailure(
                .negative,
                "\(failures.count) credentials are still under another key: " + failures.joined(separator: " ")
            )
        }
        if !keys.earlier.isEmpty {
            let old = keys.earlier.map(\.keyID).joined(separator: ", ")
            StandardOutput.line(
                "The key file still has the key \(old), which opens copies of the database made until now; `pushmta credential rotate-key --drop-old` takes it out."
            )
        }
    }

    /// Seals one credential anew; false if somebody else has.
    private func seal(_ id: Int64, _ keys: CredentialKeyring) async throws -> Bool {
        // Whoever sets the credential meanwhile makes another of it, and deletes this one.
        while let row = try await store.credential(id), row.sealKeyID != keys.current.keyID {
            let material = try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: id)
            let sealed = try keys.current.seal(material, credentialID: id)
            if try await store.resealCredential(id, from: row.sealKeyID, to: keys.current.keyID, sealed: sealed) {
                return true
            }
        }
        return false
    }

    /// Takes the keys out of the file under which nothing is sealed any more.
    func dropOld() throws {
        guard !source.isSystemds else {
            throw CommandFailure(
                .configuration,
                "The key is systemd's credential \(CredentialKeySource.systemdName), which cannot be changed here: take the lines after the first out of its file."
            )
        }
        try CredentialKeyFile.replace(source.path, text: CredentialKeyring.textOfCurrentKey(in: try contents()))
        StandardOutput.line("\(source.path) has the key \(try keys.current.keyID) alone now.")
    }

    private func contents() throws -> String {
        _ = try keys
        return try String(contentsOfFile: source.path, encoding: .utf8)
    }

    /// Hosts that run besides this one.
    private func otherHosts() async throws -> [String] {
        let own = ProcessInfo.processInfo.hostName
        return try await store.hosts().filter { $0.liveness == .alive || $0.liveness == .late }
            .map(\.report.name).filter { $0 != own }
    }
}
