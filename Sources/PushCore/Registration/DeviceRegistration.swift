/// The data that a device sends when it registers (reference: Adobe's `registerIOS.jssp` and `registerAndroid.jssp`).
package struct DeviceRegistration: Sendable, Hashable {
    /// The platform of the path that the request used.
    package var platform: Platform
    /// `mobileAppUuid`, which names the application.
    package var integrationKey: String
    /// `registrationToken`, in the form in which it is stored.
    package var pushToken: String
    /// `userKey`; "" if the app sends none.
    package var userKey: String
    /// `deviceImei` (Android's ANDROID_ID) or `deviceUuid`; nil if absent, as on iOS.
    package var deviceID: String?
    /// `osLanguage`: a language tag, not validated.
    package var locale: String
    /// `timeZone`, such as `Europe/Paris`; "" if the app sends none. The database decides whether it knows the name.
    package var timeZone: String
    /// The parameters that describe the device, by name.
    package var device: [String: String]
    /// The app's own values from `additionalParams`.
    package var parameters: [String: String]
    /// Whether the app sent a document of values. A document without values removes those stored before.
    package var saysParameters: Bool
    /// All other parameters, as sent.
    package var extra: [String: String]
    /// The user's choice in the app: no messages (true) or messages again (false); nil if the app sent none. An app
    /// sends true with each registration and false only once.
    package var optOut: Bool?
    /// The user's choices among categories of messages.
    package var categories = CategoryChoices()
    /// The proof of the user key; nil if there is none. It is verified and never stored.
    package var userKeyProof: String?

    /// The maximum length of a user key or device id in bytes. Both are indexed, and PostgreSQL limits an index entry
    /// to a third of a page.
    package static let maxKeyLength = 1_000
    /// The maximum length of a locale or a time zone in bytes; each is a few words.
    package static let maxLocaleLength = 200
    /// The maximum length of a list of categories in bytes: a service has a handful, each of at most 50 bytes.
    package static let maxCategoriesLength = 1_000

    private static let deviceNames: Set<String> = [
        "deviceName", "deviceModel", "deviceBrand", "deviceManufacturer", "osName", "osVersion", "osLanguage",
        "deviceImplementation",
    ]
    private static let otherNames: Set<String> = [
        "registrationToken", "mobileAppUuid", "userKey", "deviceImei", "deviceUuid", "additionalParams", "optOut",
        "timeZone",
        outName, inName,
    ]
    /// The parameters with categories that the user does not want, and wants again.
    private static let outName = "categoriesOptOut"
    private static let inName = "categoriesOptIn"

    /// Reads a registration from the parameters of a request.
    package init(_ form: FormParameters, platform: Platform) throws(RegistrationError) {
        guard let key = form["mobileAppUuid"], !key.isEmpty else { throw .missing("mobileAppUuid") }
        guard let token = form["registrationToken"], !token.isEmpty else { throw .missing("registrationToken") }
        guard let normalised = PushTokenForm.normalised(token, platform) else { throw .token(platform) }
        self.platform = platform
        integrationKey = key
        pushToken = normalised
        userKey = KeyText.trimmed(form["userKey"] ?? "")
        deviceID = [form["deviceImei"], form["deviceUuid"]].compactMap(\.self).first { !$0.isEmpty }
        locale = form["osLanguage"] ?? ""
        timeZone = form["timeZone"] ?? ""
        device = form.values.filter { Self.deviceNames.contains($0.key) && !$0.value.isEmpty }
        extra = form.values.filter { !Self.deviceNames.contains($0.key) && !Self.otherNames.contains($0.key) }
        switch form["optOut"] ?? "" {
        case "true": optOut = true
        case "false": optOut = false
        case "": optOut = nil
        default: throw .optOut
        }
        categories = CategoryChoices(outs: form[Self.outName] ?? "", ins: form[Self.inName] ?? "")
        let document = form["additionalParams"] ?? ""
        saysParameters = document.utf8.contains { $0 > 0x20 }
        do {
            var values = try AdditionalParameters.parse(document)
            userKeyProof = values.removeValue(forKey: UserKeyProof.parameter)
            parameters = values
        } catch {
            throw .additionalParameters(error)
        }
        try Self.check("mobileAppUuid", key, Self.maxKeyLength)
        try Self.check("userKey", userKey, Self.maxKeyLength)
        try Self.check("deviceImei", deviceID ?? "", Self.maxKeyLength)
        try Self.check("osLanguage", locale, Self.maxLocaleLength)
        try Self.check("timeZone", timeZone, Self.maxLocaleLength)
        for name in [Self.outName, Self.inName] { try Self.check(name, form[name] ?? "", Self.maxCategoriesLength) }
    }

    private static func check(_ name: String, _ value: String, _ limit: Int) throws(RegistrationError) {
        if value.utf8.count > limit { throw .tooLong(name, limit: limit) }
    }
}

extension DeviceRegistration {
    /// Makes a registration from values that did not come as a form. They are validated when the registration is
    /// placed.
    ///
    /// - Parameter pushToken: a token as ``PushTokenForm/normalised(_:_:)`` returns it.
    package init(
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
        timeZone = ""
        self.device = device
        self.parameters = parameters ?? [:]
        saysParameters = parameters != nil
        extra = [:]
        optOut = nil
        userKeyProof = nil
    }
}
