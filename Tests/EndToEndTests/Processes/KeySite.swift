import Foundation
import Gateways
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// A database with applications and their credentials, and the key file that seals these.
struct KeySite: Sendable {
    let folder: TemporaryFolder
    let database: TestDatabase
    let store: Store
    let settings: Settings
    /// A file with an FCM project key.
    let projectKey: String
    let applications: [String]

    /// - Parameter beside: another site, with its own folder and database, whose key file this one shares.
    static func make(applications count: Int = 3, beside: KeySite? = nil) async throws -> KeySite {
        let folder = try TemporaryFolder()
        let database = try await TestDatabase.create(.migrated)
        var settings = Settings()
        settings.database.url = database.connectionString
        settings.credentialKeyFile = beside?.settings.credentialKeyFile ?? folder.path + "/credential.key"
        if beside == nil { try CredentialKeyFile.create(at: settings.credentialKeyFile) }
        let store = try await Store.connect(database.configuration())
        try await store.createService(name: "shop", label: "Shop")
        let site = KeySite(
            folder: folder,
            database: database,
            store: store,
            settings: settings,
            projectKey: try folder.write(String(repeating: "k", count: 39), to: "project.key"),
            applications: (0..<count).map { "droid-\($0)" }
        )
        for name in site.applications {
            try await store.createApplication(
                NewApplication(
                    service: "shop",
                    name: name,
                    platform: .android,
                    integrationKey: name,
                    bundleID: "com.shop"
                )
            )
            try await site.save(name)
        }
        return site
    }

    var source: CredentialKeySource { get throws { try #require(CredentialKeySource(settings, environment: [:])) } }

    /// The text of the key file.
    var text: String { get throws { try String(contentsOfFile: settings.credentialKeyFile, encoding: .utf8) } }

    /// Sets an application's credential as the command does.
    func save(_ application: String) async throws {
        let material = try CredentialMaterial(file: projectKey, platform: .android)
        try await CredentialWriter(store: store, settings: settings).save(material, application: application)
    }

    /// Runs the command.
    func run(_ words: [String]) async throws -> Program.Ending {
        try await Program.pushmta().run(
            words,
            environment: [
                "PUSHMTA_DATABASE_URL": database.connectionString,
                "PUSHMTA_CREDENTIAL_KEY_FILE": settings.credentialKeyFile,
            ]
        )
    }

    /// Opens every credential with the keys of the file, which must never fail.
    func openAll() async throws {
        let keys = try CredentialKeyFile.keyring(settings)
        let rows = try await store.credentials()
        #expect(rows.count == applications.count)
        for notice in rows {
            let row = try #require(try await store.credential(notice.id))
            #expect(
                throws: Never.self,
                "key \(row.sealKeyID) of credential \(row.id) is not among \(keys.keyIDs)"
            ) { try keys.open(row.sealed, keyID: row.sealKeyID, credentialID: row.id) }
        }
    }

    /// Waits until a session waits for another session's lock.
    func waitForLock() async throws {
        let watcher = try await database.connect()
        try await eventually("a session that waits for a lock", within: DeliverySite.limit) {
            try await watcher.execute(PostgresStatement(Self.waiting, prepare: false)).int64(0, 0) > 0
        }
        await watcher.close()
    }

    private static let waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
}
