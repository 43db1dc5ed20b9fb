import PostgresClient
import PushCore

/// A device as the API shows it: a subscription.
public struct DeviceRow: Sendable {
    /// Its id, never used again.
    public let id: Int64
    public let applicationID: Int32
    public let application: String
    public let platform: Platform
    /// The token that the gateway knows.
    public let pushToken: String
    /// Whose it is, "" if unknown.
    public let userKey: String
    /// Whether deliveries include it, as far as it is not in quarantine.
    public let isEnabled: Bool
    /// Why they do not, "" if they do; `opted_out` comes before other reasons.
    public let disabledReason: String
    public let disabledAt: DatabaseTime?
    /// `valid`, `with_errors`, `quarantine` or `denylisted`.
    public let quarantineStatus: String
    /// Fields of the recipient, a JSON object.
    public let recipient: String
    /// Parameters of the subscription, a JSON object.
    public let parameters: String
    /// Language tag, "" if unknown.
    public let locale: String
    /// Time zone, "" if unknown.
    public let timeZone: String
    /// Which device it says it is; nil if it does not.
    public let deviceID: String?
    /// What describes the device, a JSON object; nil for nothing.
    public let device: String?
    /// When it registered last.
    public let registeredAt: DatabaseTime
    /// When it registered first.
    public let createdAt: DatabaseTime
}

extension Store {
    /// A device by its id.
    public func device(_ id: Int64) async throws -> DeviceRow {
        let result = try await query("SELECT \(Self.deviceColumns) FROM pushmta_engine.api_device($1) s", [.int64(id)])
        return try first(result, orThrow: "There is no device \(id).", Self.device)
    }

    /// Devices with a push token in some applications, nil for all; the last registered first.
    public func devices(pushToken: String, applications: [Int32]?, limit: Int32) async throws -> [DeviceRow] {
        try await findDevices([.text(pushToken), .null], applications, limit)
    }

    /// Devices of a user in some applications, nil for all; the last registered first.
    public func devices(userKey: String, applications: [Int32]?, limit: Int32) async throws -> [DeviceRow] {
        try await findDevices([.null, .text(userKey)], applications, limit)
    }

    /// Sends nothing more to a device, until it registers again.
    public func unregisterDevice(_ id: Int64) async throws {
        try await change("pushmta.unregister_device($1)", [.int64(id)])
    }

    /// Notes that somebody wants nothing, or something again; it stays when the device registers again.
    public func setOptOut(_ id: Int64, _ optedOut: Bool) async throws {
        try await change("pushmta.set_opt_out($1, $2)", [.int64(id), .bool(optedOut)])
    }

    /// Notes the same of all devices that a user has in some applications, nil for all; returns how many were changed.
    public func setOptOut(ofUser key: String, applications: [Int32]?, _ optedOut: Bool) async throws -> Int64 {
        try await change(
            "pushmta_engine.api_set_user_opt_out($1::integer[], $2, $3)",
            [applications.map(PostgresValue.int32Array) ?? .null, .text(key), .bool(optedOut)]
        ).one { try $0.int64() }
    }

    private func findDevices(_ wanted: [PostgresValue], _ applications: [Int32]?, _ limit: Int32) async throws
        -> [DeviceRow]
    {
        let result = try await query(
            "SELECT \(Self.deviceColumns) FROM pushmta_engine.api_find_devices($1::integer[], $2::text, $3::text, $4::integer) s",
            [applications.map(PostgresValue.int32Array) ?? .null] + wanted + [.int32(limit)]
        )
        return try all(result, Self.device)
    }

    private static let deviceColumns = """
        s.id, s.application_id, s.application, s.platform, s.push_token, s.user_key, s.enabled, s.disabled_reason, s.disabled_at,
        s.quarantine_status, s.recipient::text, s.parameters::text, s.locale, s.time_zone, s.device_id, s.device::text,
        s.registered_at, s.created_at
        """

    private static func device(_ row: inout RowReader) throws -> DeviceRow {
        DeviceRow(
            id: try row.int64(),
            applicationID: try row.int32(),
            application: try row.text(),
            platform: try row.choice(),
            pushToken: try row.text(),
            userKey: try row.text(),
            isEnabled: try row.bool(),
            disabledReason: try row.text(),
            disabledAt: try row.timeOrNil(),
            quarantineStatus: try row.text(),
            recipient: try row.text(),
            parameters: try row.text(),
            locale: try row.text(),
            timeZone: try row.text(),
            deviceID: try row.textOrNil(),
            device: try row.textOrNil(),
            registeredAt: try row.time(),
            createdAt: try row.time()
        )
    }
}
