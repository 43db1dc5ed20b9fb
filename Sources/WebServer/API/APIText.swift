import PushCore

/// A kind of text in the API's bodies: how long it may be, and its form.
///
/// The reading of bodies and the OpenAPI document take both from here.
struct APIText: Sendable {
    /// Characters of the longest one.
    let maxLength: Int
    /// Its bytes.
    let maxBytes: Int
    /// A regular expression that the whole text matches.
    let pattern: String?

    private init(_ maxLength: Int, maxBytes: Int? = nil, pattern: String? = nil) {
        self.maxLength = maxLength
        self.maxBytes = maxBytes ?? maxLength
        self.pattern = pattern
    }

    /// PostgreSQL stores no U+0000.
    private static let storable = #"^[^\u0000]*$"#
    /// Without control characters and line breaks, which `NameRule` refuses.
    private static let plain = #"^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*$"#

    /// The name of something new.
    static let newName = APIText(NameRule.maxNameLength, pattern: plain)
    /// A name after which a page begins; a character has at most four bytes.
    static let nameCursor = APIText(NameRule.maxNameLength, maxBytes: 4 * NameRule.maxNameLength, pattern: storable)
    /// The name of something that exists: longer than any name, so that a wrong one is not found rather than malformed.
    static let name = APIText(1_000, pattern: storable)
    /// A label; a character has at most four bytes.
    static let label = APIText(NameRule.maxLabelLength, maxBytes: 4 * NameRule.maxLabelLength, pattern: plain)
    /// A user key that is looked for.
    static let userKey = APIText(DeviceRegistration.maxKeyLength, pattern: storable)
    /// A user key or device id that is stored.
    static let plainKey = APIText(DeviceRegistration.maxKeyLength, pattern: plain)
    static let pushToken = APIText(PushTokenForm.androidLength.upperBound, pattern: storable)
    /// The name of a category.
    static let category = APIText(50, pattern: DeliverySetting.categoryForm)
    /// The locale or time zone of a device.
    static let deviceSetting = APIText(DeviceSetting.longest)
    /// The locale of a seed address.
    static let seedLocale = APIText(DeviceSetting.longest, pattern: #"^([A-Za-z][A-Za-z0-9_@=;.-]{0,63})?$"#)
    /// A locale whose content is shown.
    static let localeTag = APIText(DeviceSetting.longest, pattern: "^[A-Za-z0-9_@=;.-]*$")
    static let filter = APIText(TargetFilter.maxBytes)
    /// What a person says about a decision; a character has at most four bytes.
    static let words = APIText(2_000, maxBytes: 8_000, pattern: storable)
    /// A version of a delivery that waits for an approval.
    static let version = APIText(20, pattern: "^[0-9a-f]{20}$")
    /// A value that an app registers.
    static let value = APIText(8_192)
    /// An index holds them.
    static let idempotencyKey = APIText(255, pattern: "^[!-~]+$")

    /// An id of a message: the address of a tracking request is the longest.
    static let messageID = APIText(2_000)
    /// The name of a conversion.
    static let conversion = APIText(100, pattern: plain)
    /// The address of a webhook.
    static let webhookURL = APIText(2_000, pattern: #"^https://[^\s/@?#]+([/?][^\s#]*)?$"#)
    /// A moment of RFC 3339.
    static let moment = APIText(40)
    /// A date and a time of day without a zone.
    static let localTime = APIText(19, pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?$")
    /// A word of a short list.
    static let word = APIText(20)

    /// Its JSON Schema.
    func schema(mayBeEmpty: Bool = true, _ description: String? = nil) -> String {
        var entries = [JSONEntry(name: "type", value: .string("string"))]
        if !mayBeEmpty { entries.append(JSONEntry(name: "minLength", value: .number("1"))) }
        entries.append(JSONEntry(name: "maxLength", value: .number("\(maxLength)")))
        if let pattern { entries.append(JSONEntry(name: "pattern", value: .string(pattern))) }
        if let description { entries.append(JSONEntry(name: "description", value: .string(description))) }
        return JSONValue.object(entries).compactText
    }
}
