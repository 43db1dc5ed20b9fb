import Foundation
import GatewaySimulator
import Gateways
import PostgresClient
import PushCore
import Store
import TestSupport

@testable import FeedbackWorker

/// An application with a binary connector, whose gateway and feedback service are a simulator's.
struct BinarySite {
    static let application = "binary-app"

    let site: FeedbackSite
    let simulator: GatewaySimulator
    let folder: String
    /// Of the application's subscriptions.
    let tokens: [String]

    private var keyFile: String { folder + "/key" }
    private var topic: String { simulator.credentials.apnsTopics[0] }

    static func run(in cluster: TestCluster? = nil, _ body: (BinarySite) async throws -> Void) async throws {
        let folder = NSTemporaryDirectory() + "feedback-" + UUID().uuidString
        let simulator = try await GatewaySimulator.start(GatewaySimulatorOptions(stateFolder: folder))
        do {
            try await body(try await make(try await FeedbackSite.make(in: cluster), simulator, folder))
        } catch {
            await simulator.stop()
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        await simulator.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func make(_ site: FeedbackSite, _ simulator: GatewaySimulator, _ folder: String) async throws
        -> BinarySite
    {
        let store = site.store
        try await store.createAccount(
            name: "binary",
            connector: .iosBinary,
            host: "127.0.0.1",
            port: Int32(clamping: simulator.apnsBinaryPort),
            options: #"{"ca_file": "\#(simulator.caFile)", "feedback_port": \#(simulator.apnsFeedbackPort)}"#
        )
        try await store.createApplication(
            NewApplication(
                service: "shop",
                name: application,
                platform: .ios,
                integrationKey: application,
                bundleID: simulator.credentials.apnsTopics[0],
                account: "binary"
            )
        )
        let key = CredentialCipher.newKeyText()
        try Data(key.utf8).write(to: URL(fileURLWithPath: folder + "/key"))
        let certificate = SealedCertificate(
            pkcs12: Array(try Data(contentsOf: URL(fileURLWithPath: simulator.credentials.apnsCertificateFile))),
            passphrase: simulator.credentials.apnsCertificatePassphrase
        )
        let cipher = try CredentialCipher(keyText: key)
        let id = try await store.nextCredentialID()
        try await store.saveCredential(
            CredentialRow(
                id: id,
                kind: .apnsCertificate,
                name: application,
                sealKeyID: cipher.keyID,
                sealed: try cipher.seal(certificate.material, credentialID: id),
                attributes: "{}",
                fingerprint: "00",
                expiresAt: nil
            ),
            application: application
        )
        try await store.seedSubscriptions(application: application, count: 30)
        let tokens = try await store.subscriptions(application: application).map(\.pushToken)
        return BinarySite(site: site, simulator: simulator, folder: folder, tokens: tokens)
    }

    /// A worker that has the key of the credentials.
    func worker(_ change: (inout FeedbackSetup) -> Void = { _ in }) -> FeedbackWorker {
        site.worker {
            $0.settings.credentialKeyFile = keyFile
            $0.settings.mta.master.dataBaseRetryDelaySec = 1
            change(&$0)
        }
    }

    /// Lets the service find the app gone from the first devices, at a time to come: no registration so far outweighs it.
    func kill(_ count: Int) {
        let since = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
        _ = simulator.addFeedback(Array(tokens.prefix(count)), sinceMilliseconds: since, topic: topic)
    }

    /// The same of one device long ago.
    func killLongAgo(_ token: String) {
        _ = simulator.addFeedback([token], sinceMilliseconds: 1_000_000_000_000, topic: topic)
    }

    var disabled: String {
        "SELECT count(*) FROM pushmta.subscription WHERE application = '\(Self.application)' AND NOT enabled"
    }

    /// A session for whose end everybody waits who stores what a service said; what was said is then in a process's memory alone.
    func holdStoring() async throws -> PostgresConnection {
        try await site.run(
            """
            CREATE FUNCTION public.wait_to_store() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
            CREATE TRIGGER wait_to_store BEFORE INSERT ON pushmta_engine.token_event
                FOR EACH STATEMENT EXECUTE FUNCTION public.wait_to_store()
            """
        )
        let connection = try await site.database.connect()
        try await connection.run(script: "SELECT pg_advisory_lock(42)")
        return connection
    }

    /// Waits until somebody is about to store.
    func waitForStoring() async throws -> Bool {
        try await site.wait(
            for: 1,
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND NOT granted"
        )
    }
}
