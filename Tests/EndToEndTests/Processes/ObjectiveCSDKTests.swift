import Foundation
import LaboratoryStore
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory

/// The Objective-C SDK, run with GNUstep, against a real web process.
@Suite struct ObjectiveCSDKTests {
    private static let fixtures = ProjectFolder.path + "/Tests/MobileSDKTests/ObjectiveC/Fixtures"

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func script(_ name: String, _ arguments: [String]) async throws {
        let ending = try await Program(path: "\(Self.fixtures)/\(name)").run(arguments)
        try #require(ending.status == 0, "\(name) \(arguments): \(ending.errors)")
    }

    /// Compiles a program that registers and tracks as its arguments say, and an app whose delegate consists of
    /// samples.
    private func compile() async throws {
        try await script("build", ["library", "clang", folder.path])
        try await script("wrap", [folder.path, "app"])
        try await script("build", ["program", "clang", folder.path, "\(Self.fixtures)/Programs/Device.m"])
        let delegate = "\(folder.path)/SampleDelegate-silent.m"
        let app = ["\(Self.fixtures)/Programs/SampleApp.m", "\(Self.fixtures)/Stubs/Stubs.m", delegate]
        try await script("build", ["program", "clang", folder.path] + app)
    }

    /// Runs a program as an app with its own files and returns its output.
    private func run(_ program: String, _ arguments: [String]) async throws -> [String] {
        let home = "\(folder.path)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let settings = "GNUSTEP_USER_DIR_LIBRARY=\(home)/Library\nGNUSTEP_USER_DEFAULTS_DIR=\(home)/Defaults\n"
        try settings.write(toFile: "\(home)/GNUstep.conf", atomically: true, encoding: .utf8)
        let environment = ["GNUSTEP_CONFIG_FILE": "\(home)/GNUstep.conf", "LC_ALL": "C.UTF-8"]
        let ending = try await Program(path: "\(folder.path)/\(program)").run(arguments, environment: environment)
        #expect(ending.status == 0, "\(arguments): \(ending.output) \(ending.errors)")
        return ending.output.split(separator: "\n").map(String.init)
    }

    @Test func whatADeviceSaysIsInTheDatabase() async throws {
        try await compile()
        let port = try await FreePort.any()
        try await DeliverySite.with(
            subscribers: 2,
            configure: { settings in
                settings.web.address = "127.0.0.1"
                settings.web.port = port
                settings.web.workingPath = folder.path + "/web"
                settings.web.accessLog = folder.path + "/access.log"
            },
            { site in
                let web = try await site.testSite.startWeb(site.settings)
                try await register(site, web)
                try await track(site, web)
            }
        )
    }

    private func key(_ site: DeliverySite) async throws -> String {
        let applications = try await site.store.registrableApplications()
        return try #require(applications.first { $0.name == site.application }?.integrationKey)
    }

    private func subscription(_ site: DeliverySite, _ token: String) async throws -> SubscriptionRow? {
        try await site.store.subscriptions(application: site.application).first { $0.pushToken == token }
    }

    private func register(_ site: DeliverySite, _ web: String) async throws {
        let token = String(repeating: "0a", count: 32)
        let key = try await key(site)
        let said = try await run(
            "Device",
            [
                "register=\(token),ann", "host=\(web)", "register=\(token),ann", "key=\(key)-not", "register=\(token)",
                "key=\(key)", "register=zz,ann", "param=firstName=O'Neil <é>", "param=vip=true",
                "register=\(token),ann", "host=http://127.0.0.1:1", "register=\(token),bob",
            ]
        )
        #expect(said.map { $0.prefix(8) } == ["status 1", "status 2", "status 4", "status 5", "status 0", "status 3"])
        #expect(said.count == 6 && said[3].contains("APNs token") && said[5].count > 9, "\(said)")
        let row = try #require(try await subscription(site, token))
        #expect(row.userKey == "ann" && row.enabled)
        let parameters = try JSONSerialization.jsonObject(with: Data(row.parameters.utf8)) as? [String: String]
        #expect(parameters == ["firstName": "O'Neil <é>", "vip": "true"])
    }

    /// A receipt and a click of one message, and the receipt of another one by the app made of samples.
    private func track(_ site: DeliverySite, _ web: String) async throws {
        let delivery = try await site.send(to: site.application)
        let progress = try await site.progress(delivery) { $0.sent >= 2 }
        #expect(progress.sent >= 2)
        let codec = try MessageIDCodec(
            deliveryID: delivery,
            trackingKey: try await site.store.trackingKey(delivery: delivery)
        )
        let ids = [1, 2].map { codec.uuid(sequence: $0).description }
        let deliveryID = String(delivery, radix: 16)
        let message = "\(ids[0]),\(deliveryID)"
        let said = try await run("Device", ["tracking=\(web)/", "receive=\(message)", "click=\(message)"])
        #expect(said.isEmpty)
        let token = String(repeating: "0b", count: 32)
        let app = try await run("SampleApp", [web, try await key(site), token, "carl", ids[1], deliveryID])
        #expect(app == ["status 0", "completed 1", "tracked"])
        try await site.wait("the hits") {
            let hits = try await site.store.firstHits(delivery: delivery)
            return hits.received == 2 && hits.clicked == 1
        }
        let row = try #require(try await subscription(site, token))
        #expect(row.userKey == "carl" && row.parameters.contains("3233"))
    }
}
