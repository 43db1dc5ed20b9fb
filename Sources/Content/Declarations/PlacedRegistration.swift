import PushCore

/// A registration with each value assigned to its column by the application's declarations, ready to be stored.
package struct PlacedRegistration: Sendable, Hashable {
    package var applicationID: Int32
    package var pushToken: String
    /// The user that it belongs to; "" if unknown.
    package var userKey: String
    /// How far the user key can be trusted.
    package var claim = UserKeyClaim.open
    /// The device's id; nil for none, and for an id that many devices share.
    package var deviceID: String?
    /// The language tag in its canonical form, "" if unknown.
    package var locale: String
    /// The IANA time zone, "" if unknown.
    package var timeZone: String
    /// The description of the device, a JSON object; nil for none.
    package var device: String?
    /// The fields of the recipient that the app declares, a JSON object; nil for none.
    package var recipient: String?
    /// The subscription's parameters, a JSON object that replaces the previous one; nil if the app does not send any.
    package var parameters: String?
    /// Unknown parameters of the request, a JSON object; nil for none.
    package var extra: String?
    /// Whether the person opted out; nil if the app does not say.
    package var optOut: Bool?
    /// The user's choices among categories of messages.
    package var categories = CategoryChoices()
    /// The number of values that were dropped because too much is undeclared.
    package var dropped = 0

    /// Assigns a registration's values to columns.
    ///
    /// - Throws: ``RegistrationError`` if a declared value is too long for its column.
    package init(
        _ registration: DeviceRegistration,
        application: Int32,
        declarations: ApplicationDeclarations
    ) throws(RegistrationError) {
        applicationID = application
        pushToken = registration.pushToken
        userKey = registration.userKey
        deviceID = DeviceIdentity.kept(registration.deviceID)
        locale = registration.locale
        timeZone = registration.timeZone
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
        guard userKey.utf8.count <= DeviceRegistration.maxKeyLength else {
            throw .tooLong("userKey", limit: DeviceRegistration.maxKeyLength)
        }
        device = JSONObjectText.write(registration.device)
        recipient = JSONObjectText.write(recipientFields)
        parameters = JSONObjectText.write(parameterFields) ?? (registration.saysParameters ? "{}" : nil)
        extra = JSONObjectText.write(registration.extra)
        optOut = registration.optOut
        categories = registration.categories
    }

    /// Takes over the values that an earlier registration of the same token and user has and this one lacks, as the
    /// database does when they arrive one after the other.
    mutating func fill(from earlier: PlacedRegistration) {
        if locale.isEmpty { locale = earlier.locale }
        if timeZone.isEmpty { timeZone = earlier.timeZone }
        device = device ?? earlier.device
        recipient = recipient ?? earlier.recipient
        parameters = parameters ?? earlier.parameters
        extra = extra ?? earlier.extra
        optOut = optOut ?? earlier.optOut
        categories.fill(from: earlier.categories)
    }

    /// Prepares registrations for being stored together: if several have the same token and user, each later one takes
    /// over what the earlier ones have.
    package static func completed(_ registrations: [PlacedRegistration]) -> [PlacedRegistration] {
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

    /// Splits registrations into groups to be stored one after the other. Whether an unproven user key counts depends
    /// on what is already stored for its token, so registrations of one token go into different groups.
    package static func groups(_ registrations: [PlacedRegistration]) -> [[PlacedRegistration]] {
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
    /// The maximum size, in bytes, of undeclared names and values. An SDK sends a few hundred bytes, but a client with
    /// an integration key could fill a whole body for each token that it invents.
    package static let maxUndeclaredBytes = 4_096
    /// The maximum size, in bytes, of a value that describes the device. Model names have less than a hundred bytes,
    /// and people name their phones.
    package static let maxDeviceValueLength = 256

    /// Drops undeclared values beyond ``maxUndeclaredBytes``, and truncates the description of the device. Values are
    /// kept in the order of their names, the app's own before those of the request. The registration is not refused,
    /// because an SDK never sends the same one again.
    ///
    /// - Returns: the number of dropped values.
    package mutating func dropUndeclared(_ declarations: ApplicationDeclarations) -> Int {
        for (name, value) in device where value.utf8.count > Self.maxDeviceValueLength {
            device[name] = String(decoding: value.utf8.prefix(Self.maxDeviceValueLength), as: UTF8.self)
        }
        func size(_ values: [String: String]) -> Int {
            values.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        }
        guard size(parameters) + size(extra) > Self.maxUndeclaredBytes else { return 0 }
        let declared = Set(declarations.parameters.map(\.name))
        let before = parameters.count + extra.count
        var room = Self.maxUndeclaredBytes
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

/// Tells ids of devices from the placeholders that devices without an id send.
///
/// A new token of a user's device ends the previous one. With an id that many devices share, each device of a user
/// would end all the others, and an SDK does not send the same registration again.
package enum DeviceIdentity {
    /// Placeholders, in lower case and with only their letters and digits: the ANDROID_ID shared by many Android 2.2
    /// devices and old emulators, the MAC address that Android 6 and later show to apps, words that programs write for
    /// a missing value, and digits typed in sequence.
    private static let constants: Set<String> = [
        "9774d56d682e549c", "020000000000", "unknown", "android", "androidid", "emulator", "null", "nil", "none",
        "undefined",
        "na", "notavailable", "012345678912345", "123456789012345",
    ]
    /// An id that repeats one character this many times or more is not a real one.
    private static let minRun = 8

    /// The id to store; nil for one that does not identify a device.
    package static func kept(_ id: String?) -> String? {
        guard let id, !isConstant(id) else { return nil }
        return id
    }

    private static func isConstant(_ id: String) -> Bool {
        let core = id.lowercased().filter { $0.isLetter || $0.isNumber }
        guard let first = core.first else { return true }
        if core.allSatisfy({ $0 == first }), first == "0" || core.count >= minRun { return true }
        return constants.contains(core)
    }
}
