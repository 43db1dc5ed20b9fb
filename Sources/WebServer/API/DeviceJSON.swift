import PushCore
import Store

/// Devices as JSON.
enum DeviceJSON {
    private static let optedOut = "opted_out"

    static func json(_ row: DeviceRow) -> JSONValue {
        .members(
            ("id", .integer(row.id)),
            ("application", .string(row.application)),
            ("platform", .string(row.platform.rawValue)),
            ("pushToken", .string(row.pushToken)),
            ("userKey", .filledText(row.userKey)),
            ("deviceId", .text(row.deviceID)),
            ("enabled", .boolean(row.isEnabled)),
            ("optedOut", .boolean(row.disabledReason == optedOut)),
            ("disabledReason", .filledText(row.disabledReason)),
            ("disabledAt", .time(row.disabledAt)),
            ("quarantineStatus", .string(row.quarantineStatus)),
            ("locale", .filledText(row.locale)),
            ("timeZone", .filledText(row.timeZone)),
            ("device", .stored(row.device)),
            ("parameters", .stored(row.parameters)),
            ("recipient", .stored(row.recipient)),
            ("registeredAt", .time(row.registeredAt)),
            ("createdAt", .time(row.createdAt))
        )
    }
}
