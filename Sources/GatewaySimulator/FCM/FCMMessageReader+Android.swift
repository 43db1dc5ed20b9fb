extension FCMMessageReader {
    /// The maximum `ttl`, in seconds: four weeks.
    private static let maxTTL = 2_419_200.0

    /// `message.android` (AndroidConfig).
    mutating func android() throws(FCMRejection) {
        try object(at: "message.android") { (reader, name) throws(FCMRejection) in
            switch true {
            case reader.matches(name, "notification"): try reader.androidNotification()
            case reader.matches(name, "priority"): try reader.priority()
            case reader.matches(name, "ttl"): try reader.ttl()
            case reader.matches(name, "data"): try reader.data(at: "message.android.data", countsPayload: false)
            case reader.matches(name, "collapse_key"), reader.matches(name, "collapseKey"),
                reader.matches(name, "restricted_package_name"), reader.matches(name, "restrictedPackageName"):
                try reader.stringField(name, of: "message.android")
            case reader.matches(name, "direct_boot_ok"), reader.matches(name, "directBootOk"),
                reader.matches(name, "bandwidth_constrained_ok"), reader.matches(name, "bandwidthConstrainedOk"),
                reader.matches(name, "restricted_satellite_ok"), reader.matches(name, "restrictedSatelliteOk"):
                _ = try reader.bool(name, of: "message.android")
            case reader.matches(name, "fcm_options"), reader.matches(name, "fcmOptions"):
                try reader.statistics(
                    at: "message.android.fcm_options",
                    label: "message.android.fcm_options.analytics_label"
                )
            default: throw reader.unknown(name, at: "message.android")
            }
        }
    }

    private mutating func priority() throws(FCMRejection) {
        let path = "message.android.priority"
        let type = "type.googleapis.com/google.firebase.fcm.v1.AndroidMessagePriority"
        guard scanner.peek() == UInt8(ascii: "\"") else { throw try wrongType(type, at: path) }
        let value = try string(at: "message.android.priority")
        if matches(value, "HIGH") || matches(value, "NORMAL") || matches(value, "high") || matches(value, "normal") {
            return
        }
        throw .invalid("Invalid value at '\(path)' (\(type)), \"\(text(value))\"", field: path)
    }

    private mutating func ttl() throws(FCMRejection) {
        guard scanner.peek() == UInt8(ascii: "\"") else {
            throw try wrongType("type.googleapis.com/google.protobuf.Duration", at: "message.android.ttl")
        }
        let value = try string(at: "message.android.ttl")
        if isWholeSeconds(value.range) { return }
        try checkDuration(text(value))
    }

    /// The usual form, up to 999999 seconds, needs no conversion.
    private func isWholeSeconds(_ range: Range<Int>) -> Bool {
        (2...7).contains(range.count) && scanner.bytes[range.upperBound - 1] == UInt8(ascii: "s")
            && Bytes.isDecimal(scanner.bytes, range.lowerBound..<range.upperBound - 1)
    }

    private func checkDuration(_ value: String) throws(FCMRejection) {
        let path = "message.android.ttl"
        guard value.hasSuffix("s"), value.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let seconds = Double(value.dropLast())
        else {
            throw .invalid(
                "Invalid value at '\(path)' (type.googleapis.com/google.protobuf.Duration), Field 'ttl', Illegal duration "
                    + "format; duration must end with 's'",
                field: path
            )
        }
        guard seconds <= Self.maxTTL else { throw .invalid("TTL value is out of range: \(value)", field: path) }
    }

    private mutating func androidNotification() throws(FCMRejection) {
        try object(at: "message.android.notification") { (reader, name) throws(FCMRejection) in
            switch AndroidNotificationField.of(reader.scanner.bytes, name.range) {
            case .text: try reader.stringField(name, of: "message.android.notification")
            case .flag: _ = try reader.bool(name, of: "message.android.notification")
            case .other: try reader.syntax { (scanner) throws(JSONScanner.Fault) in try scanner.skipValue() }
            case nil: throw reader.unknown(name, at: "message.android.notification")
            }
        }
    }

    private mutating func stringField(_ name: JSONScanner.Text, of path: StaticString) throws(FCMRejection) {
        guard scanner.peek() == UInt8(ascii: "\"") else {
            throw try wrongType("TYPE_STRING", at: place(name, of: path))
        }
        let value = try string(at: path)
        if matches(name, "color"), !isColor(value.range) {
            throw .invalid("Invalid color value: \(text(value))", field: place(name, of: path))
        }
        guard matches(name, "title") || matches(name, "body") else { return }
        message.payloadBytes += value.range.count
    }

    /// `#rrggbb`.
    private func isColor(_ range: Range<Int>) -> Bool {
        range.isEmpty
            || range.count == 7 && scanner.bytes[range.lowerBound] == UInt8(ascii: "#")
                && range.dropFirst().allSatisfy { Character(Unicode.Scalar(scanner.bytes[$0])).isHexDigit }
    }

    /// `fcm_options` of the message or of Android; labels match `^[a-zA-Z0-9-_.~%]{1,50}$`.
    mutating func statistics(at place: StaticString, label path: StaticString) throws(FCMRejection) {
        try object(at: place) { (reader, name) throws(FCMRejection) in
            guard reader.matches(name, "analytics_label") || reader.matches(name, "analyticsLabel") else {
                throw reader.unknown(name, at: "\(place)")
            }
            guard reader.scanner.peek() == UInt8(ascii: "\"") else {
                throw try reader.wrongType("TYPE_STRING", at: "\(path)")
            }
            let value = try reader.string(at: path)
            let isLabel =
                value.range.count <= 50
                && value.range.allSatisfy {
                    Self.isTokenByte(reader.scanner.bytes[$0]) && reader.scanner.bytes[$0] != UInt8(ascii: ":")
                        || reader.scanner.bytes[$0] == UInt8(ascii: "~")
                }
            guard isLabel else {
                throw .invalid("Invalid analytics label: \(reader.text(value))", field: "\(path)")
            }
        }
    }
}

/// The kind of JSON value of an AndroidNotification field.
enum AndroidNotificationField {
    case text
    case flag
    case other

    /// The fields in FCM's discovery document, by the hash of their names in snake case and in camel case.
    private static let kinds: [MessageKey: AndroidNotificationField] = {
        let texts = [
            "title", "body", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "title_loc_key",
            "channel_id",
            "ticker", "event_time", "image", "notification_priority", "visibility", "proxy",
        ]
        let flags = [
            "sticky", "local_only", "default_sound", "default_vibrate_timings", "default_light_settings",
            "bypass_proxy_notification",
        ]
        let others = ["body_loc_args", "title_loc_args", "vibrate_timings", "notification_count", "light_settings"]
        var kinds: [MessageKey: AndroidNotificationField] = [:]
        func add(_ names: [String], _ kind: AndroidNotificationField) {
            for name in names {
                for spelling in [name, camelCase(name)] {
                    let bytes = Array(spelling.utf8)
                    kinds[MessageKey(hashOf: bytes, bytes.indices)] = kind
                }
            }
        }
        add(texts, .text)
        add(flags, .flag)
        add(others, .other)
        return kinds
    }()

    /// The kind of the field with this name; nil if there is no such field.
    static func of(_ bytes: [UInt8], _ name: Range<Int>) -> AndroidNotificationField? {
        kinds[MessageKey(hashOf: bytes, name)]
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
