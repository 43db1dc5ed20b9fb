import PushCore

/// A registration with each value where the application's declarations keep it, ready to be stored.
public struct PlacedRegistration: Sendable, Hashable {
    public var applicationID: Int32
    public var pushToken: String
    /// Whose it is; "" if unknown.
    public var userKey: String
    /// What that is worth.
    public var claim = UserKeyClaim.open
    /// The device, if it says which it is: an id that many devices have says nothing.
    public var deviceID: String?
    /// Language tag in its one form, "" if unknown.
    public var locale: String
    /// IANA time zone, "" if unknown.
    public var timeZone: String
    /// What describes the device, a JSON object; nil for nothing.
    public var device: String?
    /// Fields of the recipient that the app declares, a JSON object; nil for none.
    public var recipient: String?
    /// Parameters of the subscription, a JSON object that takes the place of the one before; nil if the app says nothing of them.
    public var parameters: String?
    /// Parameters of the request that nobody knows, a JSON object; nil for none.
    public var extra: String?
    /// What the person has said of an opt-out; nil for nothing.
    public var optOut: Bool?
    /// Values that are not kept, because too much is undeclared.
    public var dropped = 0

    /// Puts a registration's values into columns.
    ///
    /// - Throws: ``RegistrationError`` if a declared value is too long for its column.
    public init(
        _ registration: DeviceRegistration,
        application: Int32,
        declarations: ApplicationDeclarations
    ) throws(RegistrationError) {
        applicationID = application
        pushToken = registration.pushToken
        userKey = registration.userKey
        deviceID = DeviceIdentity.kept(registration.deviceID)
        locale = registration.locale
        timeZone = ""
        var recipientFields: [String: String] = [:]
        var parameterFields: [String: String] = [:]
        if declarations.parameters.isEmpty {
            parameterFields = registration.parameters
        } else {
            for (column, value) in declarations.place(registration.parameters) {
                switch column {
                case .userKey: userKey = value
                case .locale: locale = value
                case .timeZone: timeZone = value
                case .recipient(let name): recipientFields[name] = value
                case .parameter(let name): parameterFields[name] = value
                }
            }
        }
        locale = LocaleTag.canonical(locale)
        userKey = KeyText.trimmed(userKey)
        guard userKey.utf8.count <= DeviceRegistration.longestKey else {
            throw .tooLong("userKey", limit: DeviceRegistration.longestKey)
        }
        device = JSONObjectText.write(registration.device)
        recipient = JSONObjectText.write(recipientFields)
        parameters = JSONObjectText.write(parameterFields) ?? (registration.saysParameters ? "{}" : nil)
        extra = JSONObjectText.write(registration.extra)
        optOut = registration.optOut
    }

    /// Takes over what an earlier registration of the same token and user said and this one leaves out, as the database does
    /// when they come one after the other.
    mutating func fill(from earlier: PlacedRegistration) {
        if locale.isEmpty { locale = earlier.locale }
        if timeZone.isEmpty { timeZone = earlier.timeZone }
        device = device ?? earlier.device
        recipient = recipient ?? earlier.recipient
        parameters = parameters ?? earlier.parameters
        extra = extra ?? earlier.extra
        optOut = optOut ?? earlier.optOut
    }

    /// Registrations that are stored together: of several of one token and user the later ones say all that the earlier ones
    /// said.
    public static func completed(_ registrations: [PlacedRegistration]) -> [PlacedRegistration] {
        struct Key: Hashable {
            let application: Int32
            let token: String
            let user: String
        }
        var places: [Key: Int] = [:]
        places.reserveCapacity(registrations.count)
        var completed = registrations
        for (place, registration) in registrations.enumerated() {
            let key = Key(
                application: registration.applicationID,
                token: registration.pushToken,
                user: registration.userKey
            )
            if let earlier = places.updateValue(place, forKey: key) { completed[place].fill(from: completed[earlier]) }
        }
        return completed
    }

    /// Splits registrations so that whether a user key without a proof counts is asked of what is stored: one that is not the first of its
    /// token comes in a later group.
    public static func groups(_ registrations: [PlacedRegistration]) -> [[PlacedRegistration]] {
        guard registrations.contains(where: { $0.claim == .unproven || $0.claim == .server }) else {
            return [registrations]
        }
        struct Key: Hashable {
            let application: Int32
            let token: String
        }
        var groups: [[PlacedRegistration]] = [[]]
        var seen: Set<Key> = []
        for registration in registrations {
            let key = Key(application: registration.applicationID, token: registration.pushToken)
            if !seen.insert(key).inserted {
                groups.append([])
                seen = [key]
            }
            groups[groups.count - 1].append(registration)
        }
        return groups
    }
}

extension DeviceRegistration {
    /// Bytes of names and values that are kept of what no declaration of the application names: an SDK sends some hundred, and a client
    /// with an integration key can send as much as a body holds for each token that it invents.
    public static let mostUndeclaredBytes = 4_096
    /// Bytes of a value that describes the device: names of models are shorter than a hundred, and people name their phones.
    public static let longestDeviceValue = 256

    /// Lets go of what is beyond ``mostUndeclaredBytes`` of the values that the application does not declare, the app's own before those of
    /// the request, each in the order of their names, and cuts what describes the device. It is not refused: an SDK never sends the
    /// same registration again.
    ///
    /// - Returns: how many values are gone.
    public mutating func dropUndeclared(_ declarations: ApplicationDeclarations) -> Int {
        for (name, value) in device where value.utf8.count > Self.longestDeviceValue {
            device[name] = String(decoding: value.utf8.prefix(Self.longestDeviceValue), as: UTF8.self)
        }
        func size(_ values: [String: String]) -> Int {
            values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        }
        guard size(parameters) + size(extra) > Self.mostUndeclaredBytes else { return 0 }
        let declared = Set(declarations.parameters.map(\.name))
        let before = parameters.count + extra.count
        var room = Self.mostUndeclaredBytes
        func keepsRoom(_ name: String, _ value: String) -> Bool {
            let bytes = name.utf8.count + value.utf8.count
            guard bytes <= room else { return false }
            room -= bytes
            return true
        }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key })
        where !declared.contains(name) && !keepsRoom(name, value) { parameters[name] = nil }
        for (name, value) in extra.sorted(by: { $0.key < $1.key }) where !keepsRoom(name, value) { extra[name] = nil }
        return before - parameters.count - extra.count
    }
}

/// Ids of devices, and what devices send that have none.
///
/// A new token of a user's device ends the one before it. An id that many devices have would let each of a user's end all others, and an
/// SDK does not send the same registration again.
public enum DeviceIdentity {
    /// Ids that are none, in lower case and without what is neither letter nor digit: the ANDROID_ID that many devices with
    /// Android 2.2 have and old emulators, the MAC address that Android 6 and later give to apps, what programs write where there
    /// is nothing, and the numbers that people count up to.
    private static let constants: Set<String> = [
        "9774d56d682e549c", "020000000000", "unknown", "android", "androidid", "emulator", "null", "nil", "none",
        "undefined",
        "na", "notavailable", "012345678912345", "123456789012345",
    ]
    /// So many times the same character is no chance.
    private static let shortestRun = 8

    /// An id as it is kept: nil for what does not tell one device from another.
    public static func kept(_ id: String?) -> String? {
        guard let id, !isConstant(id) else { return nil }
        return id
    }

    private static func isConstant(_ id: String) -> Bool {
        let core = id.lowercased().filter { $0.isLetter || $0.isNumber }
        guard let first = core.first else { return true }
        if core.allSatisfy({ $0 == first }), first == "0" || core.count >= shortestRun { return true }
        return constants.contains(core)
    }
}
