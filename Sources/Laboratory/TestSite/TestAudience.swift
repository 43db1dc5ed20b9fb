import Administration
import Foundation
import Gateways
import PushCore
import Store

/// The service, applications, accounts and subscribers of a test site.
struct TestAudience: Sendable {
    /// The content of test sites: two personalised fields, for both platforms.
    static let content = """
        {"ios":{"title":"Hello {{firstName|there}}","body":"The weather in {{city|your town}} is fine.","sound":"default"},\
        "android":{"title":"Hello {{firstName|there}}","body":"The weather in {{city|your town}} is fine."}}
        """

    /// A content that is equal for every subscriber. It has no tracking, which would put an id into each message.
    static let equalContent = """
        {"tracking":false,"ios":{"title":"Hello","body":"The weather is fine.","sound":"default"},\
        "android":{"title":"Hello","body":"The weather is fine."}}
        """

    let store: Store
    /// The settings, which name the key that seals credentials.
    let settings: Settings
    let simulator: SimulatorReport
    /// The prefix of every name, so that test sites in one database do not collide.
    var prefix = Self.samplePrefix
    /// The maximum number of connections per child, by platform, for the external accounts. By default the settings'
    /// value.
    var connections: [Platform: Int64] = [:]

    /// The prefix of names in a test site with its own database.
    static let samplePrefix = "sample"

    /// Creates the service, the accounts, and an application for each of these platforms.
    ///
    /// - Returns: The applications' names, in the order of the platforms.
    func create(_ platforms: [Platform] = [.ios, .android]) async throws -> [String] {
        _ = try await store.createService(name: prefix, label: "Sample")
        var names: [String] = []
        for platform in platforms { names.append(try await createApplication(.usual(platform))) }
        return names
    }

    /// Creates this many applications, alternating between the platforms. They share one account per platform, as the
    /// applications of one company do.
    ///
    /// - Returns: The applications' names.
    func createMany(_ count: Int) async throws -> [String] {
        _ = try await store.createService(name: prefix, label: "Sample")
        let routes: [TestRoute] = [.usual(.ios), .usual(.android)]
        for route in routes { try await createAccount(route, name: "\(prefix)-\(route.platform.rawValue)") }
        var names: [String] = []
        for number in 1...count {
            let route = routes[number % routes.count]
            names.append("\(prefix)-\(number)")
            try await createApplication(
                route,
                name: "\(prefix)-\(number)",
                account: "\(prefix)-\(route.platform.rawValue)"
            )
        }
        return names
    }

    /// Creates a service with one application that uses this route, and returns the application's name.
    func create(_ route: TestRoute) async throws -> String {
        _ = try await store.createService(name: prefix, label: "Sample")
        return try await createApplication(route)
    }

    /// Registers simulated devices, spread evenly over the applications.
    func seed(_ applications: [String], count: Int64) async throws {
        let share = count / Int64(applications.count)
        for (index, application) in applications.enumerated() {
            let rest = index == 0 ? count % Int64(applications.count) : 0
            try await store.seedSubscriptions(application: application, count: share + rest)
        }
    }

    /// Limits all senders together to this many messages a second for the simulator's FCM project.
    func limitProject(to messagesPerSecond: Double) async throws {
        let file = URL(fileURLWithPath: simulator.credentials.fcm.serviceAccountFile)
        let project = try ServiceAccount(json: Array(try Data(contentsOf: file))).projectID
        try await store.setRate("project", project, messagesPerSecond: messagesPerSecond)
    }

    private func createApplication(_ route: TestRoute) async throws -> String {
        let name = "\(prefix)-\(route.platform.rawValue)"
        try await createAccount(route, name: name)
        try await createApplication(route, name: name, account: name)
        return name
    }

    private func createAccount(_ route: TestRoute, name: String) async throws {
        let address = try simulator.address(route)
        _ = try await store.createAccount(
            name: name,
            connector: route.connector,
            host: address.host,
            port: address.port,
            options: Cell.object(options(route)).json
        )
    }

    private func createApplication(_ route: TestRoute, name: String, account: String) async throws {
        _ = try await store.createApplication(
            NewApplication(
                service: prefix,
                name: name,
                platform: route.platform,
                integrationKey: UUID().uuidString.lowercased(),
                bundleID: simulator.credentials.apns.topics.first ?? "com.example.app",
                account: account
            )
        )
        let material = try material(route)
        try await CredentialWriter(store: store, settings: settings).save(material, application: name)
        if route.proof == .serviceAccount {
            // The simulator has no quota by default, so the rate is unlimited: tests measure how fast the engine is.
            let project = try ServiceAccount(json: material.bytes).projectID
            try await store.setRate("project", project, messagesPerSecond: .infinity)
        }
    }

    private func options(_ route: TestRoute) -> [(String, Cell)] {
        var trust = [("ca_file", Cell.text(simulator.ca))]
        if let maximum = connections[route.platform] { trust.append(("connections", .integer(maximum))) }
        guard route.connector == .iosBinary, let feedback = simulator.apnsFeedback else { return trust }
        return trust + [("feedback_host", .text(feedback.host)), ("feedback_port", .integer(Int64(feedback.port)))]
    }

    private func material(_ route: TestRoute) throws -> CredentialMaterial {
        let apns = simulator.credentials.apns
        switch route.proof {
        case .key:
            return try CredentialMaterial(file: apns.keyFile, platform: .ios, keyID: apns.keyId, teamID: apns.teamId)
        case .certificate:
            let file = try SimulatorReport.known(apns.certificateFile, "certificate")
            return try CredentialMaterial(file: file, platform: .ios) { apns.certificatePassphrase ?? "" }
        case .serviceAccount:
            return try CredentialMaterial(file: simulator.credentials.fcm.serviceAccountFile, platform: .android)
        case .projectKey:
            let file = try SimulatorReport.known(simulator.credentials.fcmLegacy?.projectKeyFile, "project key")
            return try CredentialMaterial(file: file, platform: .android)
        }
    }
}
