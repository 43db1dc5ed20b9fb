import PushCore
import Store

/// The body of a device's registration.
struct DeviceBody: Sendable {
    let application: String
    private let pushToken: String
    private let userKey: String
    private let deviceID: String?
    private let locale: String
    private let timeZone: String
    private let device: [String: String]
    private let parameters: [String: String]?

    private static let longestName = 1_000
    /// A value's bytes; the body's limit is over all of them.
    private static let longestValue = 8_192

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        application = reader.text("application", required: true, most: Self.longestName) ?? ""
        pushToken =
            reader.text("pushToken", required: true, most: PushTokenForm.androidLength.upperBound, mayBeEmpty: false)
            ?? ""
        userKey = reader.text("userKey", most: DeviceRegistration.longestKey) ?? ""
        let given = reader.text("deviceId", most: DeviceRegistration.longestKey)
        deviceID = given.flatMap { $0.isEmpty ? nil : $0 }
        locale = reader.text("locale", most: DeviceSetting.longest) ?? ""
        timeZone = reader.text("timeZone", most: DeviceSetting.longest) ?? ""
        for (name, problem) in [
            ("locale", DeviceSetting.problem(locale: locale)), ("timeZone", DeviceSetting.problem(timeZone: timeZone)),
            ("userKey", Self.problem(key: userKey)), ("deviceId", Self.problem(key: deviceID ?? "")),
        ] {
            if let problem { reader.note(name, "it \(problem)") }
        }
        device = reader.texts("device", most: Self.longestValue) ?? [:]
        parameters = reader.texts("parameters", most: Self.longestValue)
        try reader.close()
    }

    /// Other systems find a person and a device again by these, in files of lines and in tables.
    private static func problem(key: String) -> String? {
        key.unicodeScalars.contains { $0.isControl || $0.isLineSeparator }
            ? "has line breaks or control characters" : nil
    }

    /// The registration, with each value where the application's declarations keep it.
    func placed(_ application: RegistrableApplication) throws(APIProblem) -> PlacedRegistration {
        guard let token = PushTokenForm.normalised(pushToken, application.platform) else {
            throw .invalid("/pushToken", "it is not \(PushTokenForm.words(application.platform))")
        }
        guard case .success(let declarations) = application.declarations else {
            throw .unavailable(
                "What application \"\(application.name)\" declares cannot be read by this version of the server."
            )
        }
        do {
            var placed = try PlacedRegistration(
                DeviceRegistration(
                    platform: application.platform,
                    integrationKey: application.integrationKey,
                    pushToken: token,
                    userKey: userKey,
                    deviceID: deviceID,
                    locale: locale,
                    device: device,
                    parameters: parameters
                ),
                application: application.id,
                declarations: declarations
            )
            // A parameter that the application declares for it goes before.
            if placed.timeZone.isEmpty { placed.timeZone = timeZone }
            return placed
        } catch {
            throw .invalid("/parameters", error.description)
        }
    }
}
