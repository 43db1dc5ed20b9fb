import Content
import Foundation
import PostgresClient
import PushCore
import Store
import TestSupport
import Testing

@testable import Administration
@testable import Laboratory
@testable import pushmta

/// The whole cycle with real processes: devices register, receive messages, and report them with the ids that they
/// received. The database contains objects that shadow PostgreSQL's own; none of them may run.
@Suite(.serialized) struct CircleTests {
    private static let devices: Int64 = 40

    /// A content, and whether it shows the user anything to click.
    private struct Kind {
        let name: String
        let platform: Platform
        let content: String
        var template: String?
        let isVisible: Bool
        /// The expected `data` of FCM without the ids; nil if it is not checked.
        var data: [String: String]?
    }

    private static let kinds = [
        Kind(name: "iOS", platform: .ios, content: #"{"ios":{"title":"Hello {{firstName}}"}}"#, isVisible: true),
        Kind(name: "silent", platform: .ios, content: #"{"ios":{"silent":true}}"#, isVisible: false),
        Kind(
            name: "Android notification",
            platform: .android,
            content: #"{"android":{"kind":"notification","title":"Hello {{firstName}}"}}"#,
            isVisible: true
        ),
        Kind(
            name: "Android data",
            platform: .android,
            content: #"{"android":{"kind":"data","variables":{"title":"Hello {{firstName}}"}}}"#,
            isVisible: true
        ),
        // Adobe's documentation of the channel: an app reads title, _msg and url of a data message, and the variables
        // of a rich message.
        Kind(
            name: "Adobe's data message",
            platform: .android,
            content:
                #"{"android":{"kind":"data","title":"Sale","body":"From today","click_action":"https://shop.example/sale"}}"#,
            template: "Deliver on Android",
            isVisible: true,
            data: ["title": "Sale", "_msg": "From today", "url": "https://shop.example/sale"]
        ),
        Kind(
            name: "Adobe's rich message",
            platform: .android,
            content: """
                {"android":{"variables":{"title":"Sale","sub":"From today","validity":"2030-01-31",
                "imageURL":"https://shop.example/sale.png","webpageURL":"https://shop.example/sale"}}}
                """,
            template: "Deliver on Android",
            isVisible: true,
            data: [
                "title": "Sale", "sub": "From today", "validity": "2030-01-31",
                "imageURL": "https://shop.example/sale.png", "webpageURL": "https://shop.example/sale",
            ]
        ),
    ]

    @Test func whatIsDeliveredComesBackAsReceiptsAndClicks() async throws {
        let folder = try TemporaryFolder()
        let beside = URL(fileURLWithPath: try Program.pushmta().path).deletingLastPathComponent().path
        let site = try TestSite(folder: folder.path + "/site", programs: beside)
        do {
            try await circle(site)
        } catch {
            try? await site.stop()
            try? site.remove()
            throw error
        }
        try await site.stop()
        try site.remove()
    }

    private func circle(_ site: TestSite) async throws {
        try await site.prepare()
        let settings = try site.writeSettings(children: 2, webPort: try await FreePort.any())
        // Any object that the programs use without its schema is found here first, and fails.
        let configuration = StoreSession.configuration(settings, role: "test")
        try await ShadowNames.plant(in: configuration)
        _ = try await Store.migrate(StoreSession.configuration(settings, role: "migrate"))
        let simulator = try await site.startSimulator()
        try await site.startSupervisor()
        try await site.startFeedback()
        _ = try await site.startWeb(settings)
        try await StoreSession.run(settings, role: "test") { store in
            let names = try await TestAudience(store: store, settings: settings, simulator: simulator).create()
            let applications = try await store.registrableApplications()
            let control = SimulatorControl(simulator)
            let devices = TestDevices(site: site, control: control)
            try await devices.register(applications, count: Self.devices, at: settings.web.port)
            // Every user clicks what is shown.
            try await control.post(
                "/fleet",
                #"{"host":"127.0.0.1","port":\#(settings.web.port),"click_every":1}"#
            )
            for kind in Self.kinds {
                let name = try #require(names.first { $0.hasSuffix(kind.platform.rawValue) })
                try await follow(kind, to: name, store, devices, site)
            }
            #expect(try await devices.reports().failed == 0)
        }
        for command in Self.commands {
            let ending = try await Program.pushmta().run(
                command.split(separator: " ").map(String.init) + ["--config", site.settingsFile]
            )
            #expect(ending.status == 0, "\(command): \(ending.errors)")
        }
        // `doctor` may fail here, as the site's own certificate is not one for real gateways.
        _ = try await Program.pushmta().run(["doctor", "--config", site.settingsFile])
        let shadows = try await ShadowNames.calls(in: configuration)
        #expect(shadows.calls == 0 && shadows.names > 3_000, "\(shadows)")
    }

    /// The commands that operators use.
    private static let commands = [
        "status", "queue", "delivery list", "app list", "account list", "service list", "credential list",
        "subscription list", "quarantine list", "exclusion list", "seed list", "mapping list", "template list",
        "rate list", "key list", "console user list",
    ]

    private func follow(
        _ kind: Kind,
        to application: String,
        _ store: Store,
        _ devices: TestDevices,
        _ site: TestSite
    ) async throws {
        let id = try await create(kind, to: application, store)
        try await store.startDelivery(id)
        var last = try await store.deliveryProgress(id)
        try await eventually(kind.name, within: DeliverySite.limit) {
            last = try await store.deliveryProgress(id)
            return last.state.isFinal
        }
        let expected = Self.devices / 2
        #expect(last.sent == expected, "\(kind.name): \(last)")
        // The last answer may still be in flight to its device.
        try await eventually("the receipts of \(kind.name)", within: DeliverySite.limit) {
            try await store.firstHits(delivery: id).received == expected
        }
        _ = try await devices.reports()
        let hits = try await store.firstHits(delivery: id)
        #expect(hits == FirstHits(received: expected, clicked: kind.isVisible ? expected : 0), "\(kind.name)")
        if let expected = kind.data {
            let bytes = try await devices.control.get("/fleet/data")
            var data = try JSONBody.decode([String: String].self, from: bytes)
            #expect(data.removeValue(forKey: "_mId") != nil && data.removeValue(forKey: "_dId") != nil)
            #expect(data == expected, "\(kind.name)")
        }
        try await checkStatistics(kind, delivery: id, expected, site)
    }

    private func create(_ kind: Kind, to application: String, _ store: Store) async throws -> Int64 {
        guard let template = kind.template else {
            return try await store.createDelivery(
                NewDelivery(label: kind.name, applications: [application], content: kind.content)
            )
        }
        let content = try await store.content(ofTemplate: template, merging: kind.content)
        #expect(PushContent.validate(json: content).isEmpty, "\(kind.name)")
        return try await store.createDelivery(
            DeliveryFromTemplate(
                template: template,
                label: kind.name,
                applications: [application],
                content: kind.content
            )
        )
    }

    /// The data that a marketing system reads.
    private func checkStatistics(_ kind: Kind, delivery id: Int64, _ expected: Int64, _ site: TestSite) async throws {
        let name = PostgresApplicationName(role: "test", host: "test", pid: ProcessInfo.processInfo.processIdentifier)
        let connection = try await PostgresConnection.connect(
            PostgresConfiguration(site.database, applicationName: name)
        )
        let clicks = kind.isVisible ? expected : 0
        let figures = [expected, expected, 0, expected, expected, clicks, clicks]
        var last: [Int64] = []
        try await eventually("the statistics of \(kind.name)", within: DeliverySite.limit) {
            let result = try await connection.execute(
                PostgresStatement(
                    """
                    SELECT s.target::bigint, s.sent, s.failed, s.received, s.received_unique, s.clicked, s.clicked_unique
                    FROM pushmta.delivery_statistics s WHERE s.delivery_id = \(id) AND s.complete
                    """
                )
            )
            last = try result.rowCount == 0 ? [] : (0..<figures.count).map { try result.int64(0, $0) }
            return last == figures
        }
        #expect(last == figures, "\(kind.name)")
        await connection.close()
    }
}
