import Foundation
import PushCore
import Store

/// The service, applications, accounts and subscribers of a trial.
struct TrialAudience: Sendable {
    /// The content of trials: two personalised fields, for both platforms.
    static let content = """
        {"ios":{"title":"Hello {{firstName|there}}","body":"The weather in {{city|your town}} is fine.","sound":"default"},\
        "android":{"title":"Hello {{firstName|there}}","body":"The weather in {{city|your town}} is fine."}}
        """

    /// Where they are created.
    let store: Store
    /// The settings, for the key that seals credentials.
    let settings: Settings
    /// The gateways.
    let simulator: SimulatorReport
    /// What every name begins with, so that trials in one database do not meet.
    var prefix = "sample"

    /// Creates service, accounts and applications for these platforms.
    ///
    /// - Returns: The applications' names, in the order of the platforms.
    func create(_ platforms: [Platform] = [.ios, .android]) async throws -> [String] {
        _ = try await store.createService(name: prefix, label: "Sample")
        var names: [String] = []
        for platform in platforms { names.append(try await createApplication(platform)) }
        return names
    }

    /// Registers simulated devices, evenly over the applications.
    func seed(_ applications: [String], count: Int64) async throws {
        let share = count / Int64(applications.count)
        for (index, application) in applications.enumerated() {
            let rest = index == 0 ? count % Int64(applications.count) : 0
            try await store.seedSubscriptions(application: application, count: share + rest)
        }
    }

    private func createApplication(_ platform: Platform) async throws -> String {
        let name = "\(prefix)-\(platform.rawValue)"
        let address = platform == .ios ? simulator.apns : simulator.fcm
        _ = try await store.createAccount(
            name: name,
            connector: platform == .ios ? .iosHTTP2 : .androidV2,
            host: address.host,
            port: address.port,
            options: Cell.object([("ca_file", .text(simulator.ca))]).json
        )
        _ = try await store.createApplication(
            NewApplication(
                service: prefix,
                name: name,
                platform: platform,
                integrationKey: UUID().uuidString.lowercased(),
                bundleID: simulator.credentials.apns.topics.first ?? "com.example.app",
                account: name
            )
        )
        try await CredentialWriter(store: store, settings: settings).save(try material(platform), application: name)
        return name
    }

    private func material(_ platform: Platform) throws -> CredentialMaterial {
        switch platform {
        case .ios:
            let apns = simulator.credentials.apns
            return try CredentialMaterial(file: apns.keyFile, platform: .ios, keyID: apns.keyId, teamID: apns.teamId)
        case .android:
            return try CredentialMaterial(file: simulator.credentials.fcm.serviceAccountFile, platform: .android)
        }
    }
}
