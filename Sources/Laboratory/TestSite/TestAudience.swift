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

    /// The same for everybody, and without tracking, which has an id in each message.
    static let equalContent = """
        {"tracking":false,"ios":{"title":"Hello","body":"The weather is fine.","sound":"default"},\
        "android":{"title":"Hello","body":"The weather is fine."}}
        """

    let store: Store
    /// The settings, for the key that seals credentials.
    let settings: Settings
    let simulator: SimulatorReport
    /// What every name begins with, so that test sites in one database do not meet.
    var prefix = Self.samplePrefix
    /// The most connections of a child by platform, as its external account says; as the settings say where there are none.
    var connections: [Platform: Int64] = [:]

    /// What names begin with where a test site has a database of its own.
    static let samplePrefix = "sample"

    /// Creates service, accounts and applications for these platforms.
    ///
    /// - Returns: The applications' names, in the order of the platforms.
    func create(_ platforms: [Platform] = [.ios, .android]) async throws -> [String] {
        _ = try await store.createService(name: prefix, label: "Sample")
        var names: [String] = []
        for platform in platforms { names.append(try await createApplication(.usual(platform))) }
        return names
    }

    /// Creates so many applications of both platforms in turn, which share an account a platform, as those of one company do.
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

    /// Creates a service with one application, whose messages go that way; returns the application's name.
    func create(_ route: TestRoute) async throws -> String {
        _ = try await store.createService(name: prefix, label: "Sample")
        return try await createApplication(route)
    }

    /// Registers simulated devices, evenly over the applications.
    func seed(_ applications: [String], count: Int64) async throws {
        let share = count / Int64(applications.count)
        for (index, application) in applications.enumerated() {
            let rest = index == 0 ? count % Int64(applications.count) : 0
            try await store.seedSubscriptions(application: application, count: share + rest)
        }
    }

    /// Has all senders together keep to so many messages a second of the simulator's FCM project.
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
            // The simulator has no quota unless it is told to: what is looked for is how much the engine can do.
            let project = try ServiceAccount(json: material.bytes).projectID
            try await store.setRate("project", project, messagesPerSecond: .infinity)
        }
    }

    private func options(_ route: TestRoute) -> [(String, Cell)] {
        var trust = [("ca_file", Cell.text(simulator.ca))]
        if let most = connections[route.platform] { trust.append(("connections", .integer(most))) }
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

/// The way of a test site's messages: a connector, and what it proves itself with.
struct TestRoute: Sendable, Hashable {
    /// What a sender proves itself with.
    enum Proof: String, Sendable, Hashable, CaseIterable {
        /// Apple's token key (`.p8`).
        case key
        /// A client certificate (`.p12`).
        case certificate
        /// Google's service account, and with it HTTP v1.
        case serviceAccount = "service-account"
        /// A project key, and with it legacy HTTP.
        case projectKey = "project-key"

        /// Those that a connector takes, the usual one first.
        static func all(_ connector: Connector) -> [Proof] {
            switch connector {
            case .iosHTTP2: [.key, .certificate]
            case .iosBinary: [.certificate]
            case .androidV1, .androidV2: [.serviceAccount, .projectKey]
            }
        }
    }

    let connector: Connector
    /// What the connector proves itself with.
    let proof: Proof

    /// A route; nil if the connector does not take that proof.
    init?(_ connector: Connector, _ proof: Proof? = nil) {
        let all = Proof.all(connector)
        guard let proof = proof ?? all.first, all.contains(proof) else { return nil }
        self.connector = connector
        self.proof = proof
    }

    private init(usual connector: Connector, _ proof: Proof) {
        self.connector = connector
        self.proof = proof
    }

    /// The usual route of a platform.
    static func usual(_ platform: Platform) -> TestRoute {
        switch platform {
        case .ios: TestRoute(usual: .iosHTTP2, .key)
        case .android: TestRoute(usual: .androidV2, .serviceAccount)
        }
    }

    /// The platform of its applications.
    var platform: Platform { connector.platform }

    /// The gateway's name in the simulator.
    var gateway: String {
        switch (connector, proof) {
        case (.iosBinary, _): "apns-binary"
        case (_, .projectKey): "fcm-legacy"
        case (.iosHTTP2, _): "apns"
        case (.androidV1, _), (.androidV2, _): "fcm"
        }
    }
}
