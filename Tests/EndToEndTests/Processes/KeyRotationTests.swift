import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// Rotations of the credential key, with other events in parallel: every credential can always be opened with the key
/// file.
@Suite struct KeyRotationTests {
    private static let rotate = ["credential", "rotate-key", "--shared"]

    /// The names in the site's folder, without the key file, its lock file and the project key.
    private func leftovers(_ site: KeySite) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: site.folder.path)
            .filter { !["credential.key", "credential.key.lock", "project.key"].contains($0) }
    }

    @Test func manyCommandsAtOnceLeaveEveryCredentialOpenable() async throws {
        let site = try await KeySite.make()
        let set = ["credential", "set", site.applications[0], "--key", site.projectKey]
        let words = [
            Self.rotate, Self.rotate, set, Self.rotate, ["credential", "rotate-key", "--drop-old"], Self.rotate,
        ]
        let endings = try await withThrowingTaskGroup(of: Program.Ending.self) { group in
            for line in words + words + words { group.addTask { try await site.run(line) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for ending in endings { #expect(ending.status == 0, "\(ending.output) \(ending.errors)") }
        try await site.openAll()
        #expect(try leftovers(site).isEmpty)
        let last = try await site.run(Self.rotate)
        #expect(last.output.contains("3 of 3 credentials were resealed"))
        #expect(try await site.run(["credential", "rotate-key", "--drop-old"]).output.contains("now has only the key"))
        try await site.openAll()
        #expect(try CredentialKeyFile.keyring(site.settings).keyIDs.count == 1)
    }

    @Test func twoDatabasesWithOneKeyFileDoNotLoseEachOthersKey() async throws {
        let site = try await KeySite.make(applications: 2)
        let other = try await KeySite.make(applications: 2, beside: site)
        let endings = try await withThrowingTaskGroup(of: Program.Ending.self) { group in
            for _ in 0..<6 {
                group.addTask { try await site.run(Self.rotate) }
                group.addTask { try await other.run(Self.rotate) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for ending in endings { #expect(ending.status == 0, "\(ending.output) \(ending.errors)") }
        try await site.openAll()
        try await other.openAll()
        #expect(try CredentialKeyFile.keyring(site.settings).keyIDs.count > 1)
    }

    @Test func whoeverSealsWaitsForARotation() async throws {
        let site = try await KeySite.make(applications: 1)
        let before = try CredentialKeyFile.keyring(site.settings).current.keyID
        let task = try await site.store.withCredentialKey(for: .rotating) { lock in
            let task = Task { try await site.save("droid-0") }
            try await site.waitForLock()
            let text = CredentialCipher.newKeyText() + "\n"
            try await CredentialKeyFile.replace(site.settings.credentialKeyFile, try site.text, with: text, lock)
            return task
        }
        try await task.value
        let row = try #require(try await site.store.credentials().first)
        let now = try CredentialKeyFile.keyring(site.settings).current.keyID
        #expect(row.sealKeyID == now && now != before)
        try await site.openAll()
    }

    @Test func whoeverSealsDoesNotWaitForOthersWhoDo() async throws {
        let site = try await KeySite.make(applications: 2)
        try await site.store.withCredentialKey(for: .sealing) { _ in
            try await site.save("droid-0")
            try await KeyFileLock.with(try site.source, for: .sealing) { try await site.save("droid-1") }
        }
        try await site.openAll()
    }

    @Test func aFileThatSomebodyElseHasChangedIsLeftAlone() async throws {
        let site = try await KeySite.make(applications: 1)
        let path = site.settings.credentialKeyFile
        let (before, other) = (try site.text, CredentialCipher.newKeyText() + "\n")
        // A file that a killed run has left, and a file of another user.
        _ = try site.folder.write("keys", to: ".credential.key.00112233445566ff.keys")
        _ = try site.folder.write("keys", to: "credential.key.new")
        let failure = await #expect(throws: CommandFailure.self) {
            try await site.store.withCredentialKey(for: .rotating) { lock in
                try (other + before).write(toFile: path, atomically: true, encoding: .utf8)
                try await CredentialKeyFile.replace(path, before, with: other, lock)
            }
        }
        #expect(failure?.description.contains("changed by another program") == true)
        #expect(try site.text == other + before)
        #expect(try leftovers(site) == ["credential.key.new"])
    }

    @Test func aLostLockKeepsTheFileFromBeingChanged() async throws {
        let site = try await KeySite.make(applications: 1)
        let before = try site.text
        await #expect(throws: PostgresError.self) {
            try await site.store.withCredentialKey(for: .rotating) { lock in
                let killer = try await site.database.connect()
                try await killer.run(
                    script:
                        "SELECT pg_terminate_backend(pid, 10000) FROM pg_locks WHERE granted"
                        + " AND relation = 'pushmta_engine.credential_key_lock'::regclass"
                        + " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
                )
                await killer.close()
                try await CredentialKeyFile.replace(
                    site.settings.credentialKeyFile,
                    before,
                    with: CredentialCipher.newKeyText(),
                    lock
                )
            }
        }
        #expect(try site.text == before)
        // The lock was released: the next rotation gets it.
        #expect(try await site.run(Self.rotate).status == 0)
        try await site.openAll()
    }

    @Test func aKeyThatVanishesWhileItSealsIsPutBack() async throws {
        let site = try await KeySite.make(applications: 2)
        let before = try site.text
        let holder = try await site.database.connect()
        try await holder.run(
            script:
                "SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE pushmta_engine.credential IN SHARE MODE"
        )
        let ending = Task { try await site.run(Self.rotate) }
        try await site.waitForLock()
        // An editor writes back the old contents.
        try before.write(toFile: site.settings.credentialKeyFile, atomically: true, encoding: .utf8)
        try await holder.run(script: "COMMIT")
        await holder.close()
        let said = try await ending.value
        #expect(said.status == 1 && said.errors.contains("was appended"), "\(said.output) \(said.errors)")
        #expect(try CredentialKeyFile.keyring(site.settings).keyIDs.count == 2)
        try await site.openAll()
    }

    @Test func aKeyThatIsInUseIsNotDropped() async throws {
        let site = try await KeySite.make(applications: 2)
        let old = try site.text
        try await KeyRotation.run(site.store, site.settings) { rotation in
            #expect(try await rotation.begin(output: nil, waits: false, prepareOnly: false))
            let failure = await #expect(throws: CommandFailure.self) { try await rotation.dropOld() }
            #expect(failure?.description.contains("droid-1") == true)
            #expect(try site.text.hasSuffix(old))
            try await rotation.seal(keepsOld: true)
            try await rotation.dropOld()
            #expect(try !site.text.contains(old))
        }
        try await site.openAll()
    }

    @Test func ofManyThatMakeAKeyFileOneDoes() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/credential.key"
        let texts = (0..<16).map { _ in CredentialCipher.newKeyText() + "\n" }
        let made: [String] = await withTaskGroup(of: String?.self) { group in
            for text in texts {
                group.addTask { (try? CredentialKeyFile.create(at: path, text: text)) == nil ? nil : text }
            }
            return await group.reduce(into: []) { if let text = $1 { $0.append(text) } }
        }
        #expect(made.count == 1)
        #expect(made == [try String(contentsOfFile: path, encoding: .utf8)])
    }
}
