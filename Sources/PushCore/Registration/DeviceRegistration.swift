/// What a device says of itself when it registers (reference: Adobe's `registerIOS.jssp` and `registerAndroid.jssp`).
public struct DeviceRegistration: Sendable, Hashable {
    /// Whose path it came by.
    public var platform: Platform
    /// `mobileAppUuid`: names the application.
    public var integrationKey: String
    /// `registrationToken`, as it is kept.
    public var pushToken: String
    /// `userKey`; "" if the app gives none.
    public var userKey: String
    /// `deviceImei` (Android's ANDROID_ID) or `deviceUuid`; nil if it is not given, as iOS does.
    public var deviceID: String?
    /// `osLanguage`: a language tag, or what the device takes for one.
    public var locale: String
    /// The parameters that describe the device, under their own names.
    public var device: [String: String]
    /// The app's own values of `additionalParams`.
    public var parameters: [String: String]
    /// Whether the app says which values it has: a document without any takes away those that it had.
    public var saysParameters: Bool
    /// All other parameters, as sent.
    public var extra: [String: String]
    /// What the person has said in the app: that they want no messages (true), or messages again (false); nil for nothing. An app says the
    /// second once, the first with each registration.
    public var optOut: Bool?
    /// The proof of the user key, which is checked and never stored; nil if there is none.
    public var userKeyProof: String?

    /// A user key and a device id are in an index, whose entries are limited to a third of a page.
    public static let longestKey = 1_000
    /// A locale is a few subtags.
    public static let longestLocale = 200

    private static let deviceNames: Set<String> = [
        "deviceName", "deviceModel", "deviceBrand", "deviceManufacturer", "osName", "osVersion", "osLanguage",
        "deviceImplementation",
    ]
    private static let otherNames: Set<String> = [
        "registrationToken", "mobileAppUuid", "userKey", "deviceImei", "deviceUuid", "additionalParams", "optOut",
    ]

    /// Reads the parameters of a request.
    public init(_ form: FormParameters, platform: Platform) throws(RegistrationError) {
        guard let key = form["mobileAppUuid"], !key.isEmpty else { throw .missing("mobileAppUuid") }
        guard let token = form["registrationToken"], !token.isEmpty else { throw .missing("registrationToken") }
        guard let normalised = PushTokenForm.normalised(token, platform) else { throw .token(platform) }
        self.platform = platform
        integrationKey = key
        pushToken = normalised
        userKey = KeyText.trimmed(form["userKey"] ?? "")
        deviceID = [form["deviceImei"], form["deviceUuid"]].compactMap(\.self).first { !$0.isEmpty }
        locale = form["osLanguage"] ?? ""
        device = form.values.filter { Self.deviceNames.contains($0.key) && !$0.value.isEmpty }
        extra = form.values.filter { !Self.deviceNames.contains($0.key) && !Self.otherNames.contains($0.key) }
        switch form["optOut"] ?? "" {
        case "true": optOut = true
        case "false": optOut = false
        case "": optOut = nil
        default: throw .optOut
        }
        let document = form["additionalParams"] ?? ""
        saysParameters = document.utf8.contains { $0 > 0x20 }
        do {
            var values = try AdditionalParameters.parse(document)
            userKeyProof = values.removeValue(forKey: UserKeyProof.parameter)
            parameters = values
        } catch {
            throw .additionalParameters(error)
        }
        try Self.check("mobileAppUuid", key, Self.longestKey)
        try Self.check("userKey", userKey, Self.longestKey)
        try Self.check("deviceImei", deviceID ?? "", Self.longestKey)
        try Self.check("osLanguage", locale, Self.longestLocale)
    }

    private static func check(_ name: String, _ value: String, _ limit: Int) throws(RegistrationError) {
        if value.utf8.count > limit { throw .tooLong(name, limit: limit) }
    }
}

extension DeviceRegistration {
    /// A registration of values that did not come in a form; they are checked when they are placed.
    ///
    /// - Parameter pushToken: as ``PushTokenForm/normalised(_:_:)`` gives it.
    public init(
        platform: Platform,
        integrationKey: String,
        pushToken: String,
        userKey: String = "",
        deviceID: String? = nil,
        locale: String = "",
        device: [String: String] = [:],
        parameters: [String: String]? = nil
    ) {
        self.platform = platform
        self.integrationKey = integrationKey
        self.pushToken = pushToken
        self.userKey = userKey
        self.deviceID = deviceID
        self.locale = locale
        self.device = device
        self.parameters = parameters ?? [:]
        saysParameters = parameters != nil
        extra = [:]
        optOut = nil
        userKeyProof = nil
    }
}

/// Why a registration is not taken; its description is the answer that an SDK can show.
public enum RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parameters cannot be read.
    case form(FormError)
    /// A parameter that every registration has is missing or empty; its name.
    case missing(String)
    /// The push token can be none of the platform.
    case token(Platform)
    /// `additionalParams` is no document of an SDK.
    case additionalParameters(AdditionalParametersError)
    /// `optOut` is something else than true or false.
    case optOut
    /// A value is longer than the database can find again; its name and the most bytes it may have.
    case tooLong(String, limit: Int)

    /// What is wrong and what it should be, without any value.
    public var description: String {
        switch self {
        case .form(let error): error.description
        case .missing(let name): "Parameter \(name) is missing."
        case .token(let platform): "registrationToken is not \(PushTokenForm.words(platform))."
        case .additionalParameters(let error): error.description
        case .optOut: "Parameter optOut is true or false."
        case .tooLong(let name, let limit): "Parameter \(name) is longer than \(limit) bytes."
        }
    }
}
