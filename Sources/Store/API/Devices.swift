import PostgresClient
import PushCore

extension Store {
    /// A device by its id.
    package func device(_ id: Int64) async throws -> DeviceRow {
        let result = try await query("SELECT \(Self.deviceColumns) FROM pushmta_engine.api_device($1) s", [.int64(id)])
        return try first(result, orThrow: "There is no device \(id).", Self.device)
    }

    /// Devices with a push token in some applications, nil for all; last registered first.
    package func devices(pushToken: String, applications: [Int32]?, limit: Int32) async throws -> [DeviceRow] {
        try await findDevices([.text(pushToken), .null], applications, limit)
    }

    /// Devices of a user in some applications, nil for all; last registered first.
    package func devices(userKey: String, applications: [Int32]?, limit: Int32) async throws -> [DeviceRow] {
        try await findDevices([.null, .text(userKey)], applications, limit)
    }

    /// Stops sending to a device until it registers again.
    package func unregisterDevice(_ id: Int64) async throws {
        try await change("pushmta.unregister_device($1)", [.int64(id)])
    }

    /// Records that a person wants no messages, or wants them again. The choice stays when the device registers again.
    package func setOptOut(_ id: Int64, _ optedOut: Bool) async throws {
        try await change("pushmta.set_opt_out($1, $2)", [.int64(id), .bool(optedOut)])
    }

    /// Records the same for all devices of a user in some applications, nil for all; returns how many were changed.
    package func setOptOut(ofUser key: String, applications: [Int32]?, _ optedOut: Bool) async throws -> Int64 {
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
