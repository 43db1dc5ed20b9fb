import Content
import HTTPTypes
import PushCore
import Store

/// `/devices`: lets a server do for devices what they do themselves through an SDK.
struct DeviceRoutes: Sendable {
    let database: APIDatabase

    /// The maximum number of devices in a response; a user or a token has only a few.
    private static let maxDevices: Int32 = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/devices",
                operation: "registerDevice",
                summary: "Register a device, or update it",
                details:
                    "Works like a registration by an SDK: the same application, push token and user are the same device. Another user with the token gets a new device, and the old one is disabled. So does a new token of the same user with the same deviceId. Omitted members stay as they are, including the user; an empty userKey means no user. An opt-out persists; with a deviceId it also survives a new token, and the opt-out of a user applies to all devices. This call never opts anyone in.",
                scope: .writeDevices,
                body: .required(schema: "NewDevice"),
                answers: [200: "Device", 201: "Device"],
                problems: [.notFound],
                handle: register
            ),
            APIRoute(
                method: .get,
                path: "/devices",
                operation: "findDevices",
                summary: "The devices of a user, or with a push token",
                details:
                    "At most \(Self.maxDevices), the latest registration first. Give exactly one of userKey and pushToken.",
                scope: .readDevices,
                parameters: [
                    .query("userKey", #"{"type": "string", "minLength": 1}"#, "The user of the devices."),
                    .query("pushToken", #"{"type": "string", "minLength": 1}"#, "The token that the gateway knows."),
                    .query("application", #"{"type": "string", "minLength": 1}"#, "Only devices of this application."),
                ],
                answers: [200: "DeviceList"],
                problems: [.notFound],
                handle: find
            ),
            one(.get, "", "readDevice", "A device by its id", .readDevices) { _, _ in },
            APIRoute(
                method: .delete,
                path: "/devices/{id}",
                operation: "unregisterDevice",
                summary: "Send no more messages to a device until it registers again",
                scope: .writeDevices,
                parameters: [APIRoute.idParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: unregister
            ),
            one(.put, "/opt-out", "optOut", "Note that a device's user wants no messages", .writeDevices) {
                try await $0.setOptOut($1, true)
            },
            one(
                .delete,
                "/opt-out",
                "optIn",
                "Note that a device's user wants messages again",
                .writeDevices
            ) {
                try await $0.setOptOut($1, false)
            },
            APIRoute(
                method: .put,
                path: "/opt-outs",
                operation: "setOptOutOfUser",
                summary: "Note that a user wants no messages, or wants messages again, on all devices",
                details:
                    "Applies to all of the user's devices in one application, or in all that the key allows. Devices that the user registers later are also opted out, until this call opts the user in. With a category it concerns deliveries of that category only.",
                scope: .writeDevices,
                body: .required(schema: "OptOut"),
                answers: [200: "OptOutChange"],
                problems: [.notFound],
                handle: setOptOut
            ),
        ]
    }

    /// A route that changes one device and returns it.
    private func one(
        _ method: HTTPRequest.Method,
        _ tail: String,
        _ operation: String,
        _ summary: String,
        _ scope: APIScope,
        _ change: @escaping @Sendable (Store, Int64) async throws -> Void
    ) -> APIRoute {
        APIRoute(
            method: method,
            path: "/devices/{id}" + tail,
            operation: operation,
            summary: summary,
            scope: scope,
            parameters: [APIRoute.idParameter],
            answers: [200: "Device"],
            problems: [.notFound],
            handle: { call in
                var query = call.query
                try query.close()
                let id = try call.id("device")
                let row = try await database.run { store in
                    let row = try await store.device(id)
                    guard call.allows(row.applicationID) else { throw APIProblem.notFound("device \(id)") }
                    try await change(store, id)
                    return tail.isEmpty ? row : try await store.device(id)
                }
                return APIReply(.ok, DeviceJSON.json(row))
            }
        )
    }

    private func register(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let given = try DeviceBody(call.body)
        let (row, isNew) = try await database.run { store in
            let application = try await store.registrableApplications().first { $0.name == given.application }
            guard let application, call.allows(application.id) else {
                throw APIProblem.notFound("application of this name")
            }
            var placed = try given.placed(application)
            if placed.deviceID == nil {
                // Omitted values stay. An SDK sends the device's id with each registration; a call may omit it.
                let known = try await store.devices(
                    pushToken: placed.pushToken,
                    applications: [application.id],
                    limit: 1
                ).first
                if let known, placed.claim == .kept || known.userKey == placed.userKey {
                    placed.deviceID = known.deviceID
                }
            }
            let report = try await store.register([placed])
            let rows = try await store.devices(pushToken: placed.pushToken, applications: [application.id], limit: 1)
            guard let row = rows.first else { throw APIProblem.failed }
            return (row, report.created > 0)
        }
        var reply = APIReply(isNew ? .created : .ok, DeviceJSON.json(row))
        if isNew { reply.headers[.location] = "\(WebAPI.base)/devices/\(row.id)" }
        return reply
    }

    private func find(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let user = query.text("userKey", as: .userKey)
        let token = query.text("pushToken", as: .pushToken)
        let application = query.text("application", as: .name)
        if query.faults.isEmpty, (user == nil) == (token == nil) {
            query.note("userKey", "exactly one of userKey and pushToken is expected")
        }
        try query.close()
        let rows = try await database.run { store in
            var wanted = call.applications
            if let application {
                let row = try await store.apiApplications().first { $0.name == application && call.allows($0.id) }
                guard let row else { throw APIProblem.notFound("application of this name") }
                wanted = [row.id]
            }
            guard let token else {
                return try await store.devices(userKey: user ?? "", applications: wanted, limit: Self.maxDevices)
            }
            return try await store.devices(pushToken: token, applications: wanted, limit: Self.maxDevices)
        }
        return APIReply(.ok, .members(("devices", .array(rows.map(DeviceJSON.json)))))
    }

    private func setOptOut(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        var reader = JSONReader(call.body)
        let user =
            reader.text("userKey", required: true, as: .userKey, mayBeEmpty: false)
            .map(KeyText.trimmed) ?? ""
        let isOut = reader.flag("optedOut")
        if isOut == nil, reader.faults.isEmpty { reader.note("optedOut", "true or false is expected") }
        if user.isEmpty, reader.faults.isEmpty { reader.note("userKey", "it is blank") }
        let application = reader.text("application", as: .name)
        let category = reader.category()
        try reader.close()
        let changed = try await database.run { store in
            var wanted = call.applications
            if let application {
                let row = try await store.apiApplications().first { $0.name == application && call.allows($0.id) }
                guard let row else { throw APIProblem.notFound("application of this name") }
                wanted = [row.id]
            }
            guard let category else {
                return try await store.setOptOut(ofUser: user, applications: wanted, isOut ?? true)
            }
            return try await store.apiSetOptOut(
                ofUser: user,
                applications: wanted,
                category: category,
                isOut ?? true
            )
        }
        return APIReply(.ok, .members(("changed", .integer(changed))))
    }

    private func unregister(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("device")
        try await database.run { store in
            let row = try await store.device(id)
            guard call.allows(row.applicationID) else { throw APIProblem.notFound("device \(id)") }
            try await store.unregisterDevice(id)
        }
        return APIReply(.noContent)
    }
}

/// The body of registerDevice.
struct DeviceBody: Sendable {
    let application: String
    private let pushToken: String
    /// Nil if omitted.
    private let userKey: String?
    private let deviceID: String?
    private let locale: String
    private let timeZone: String
    private let device: [String: String]
    private let parameters: [String: String]?

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        application = reader.text("application", required: true, as: .name) ?? ""
        pushToken =
            reader.text("pushToken", required: true, as: .pushToken, mayBeEmpty: false)
            ?? ""
        userKey = reader.text("userKey", as: .plainKey).map(KeyText.trimmed)
        let given = reader.text("deviceId", as: .plainKey)
        deviceID = given.flatMap { $0.isEmpty ? nil : $0 }
        locale = reader.text("locale", as: .deviceSetting) ?? ""
        timeZone = reader.text("timeZone", as: .deviceSetting) ?? ""
        for (name, problem) in [
            ("locale", DeviceSetting.problem(locale: locale)), ("timeZone", DeviceSetting.problem(timeZone: timeZone)),
            ("userKey", Self.problem(userKey: userKey ?? "")), ("deviceId", Self.problem(key: deviceID ?? "")),
        ] {
            if let problem { reader.note(name, "it \(problem)") }
        }
        device = reader.texts("device", as: .value) ?? [:]
        parameters = reader.texts("parameters", as: .value)
        try reader.close()
    }

    /// Other systems identify users and devices by these keys, in line-based files and tables.
    private static func problem(key: String) -> String? {
        key.unicodeScalars.contains { $0.isControl || $0.isLineSeparator }
            ? "contains line breaks or control characters" : nil
    }

    private static func problem(userKey key: String) -> String? {
        KeyText.flaw(inUserKey: key).map { "is \($0): send integers as text, and omit userKey if there is no user" }
            ?? problem(key: key)
    }

    /// The registration, with its values placed as the application declares.
    func placed(_ application: RegistrableApplication) throws(APIProblem) -> PlacedRegistration {
        guard let token = PushTokenForm.normalised(pushToken, application.platform) else {
            throw .invalid("/pushToken", "it is not \(PushTokenForm.words(application.platform))")
        }
        guard case .success(let declarations) = application.declarations else {
            throw .unavailable(
                "This version of the server cannot read the declarations of application \"\(application.name)\"."
            )
        }
        do {
            var placed = try PlacedRegistration(
                DeviceRegistration(
                    platform: application.platform,
                    integrationKey: application.integrationKey,
                    pushToken: token,
                    userKey: userKey ?? "",
                    deviceID: deviceID,
                    locale: locale,
                    device: device,
                    parameters: parameters
                ),
                application: application.id,
                declarations: declarations
            )
            // A parameter that the application declares as the time zone takes precedence.
            if placed.timeZone.isEmpty { placed.timeZone = timeZone }
            // A caller with an API key is a trusted server. An omitted user stays.
            placed.claim = userKey == nil && placed.userKey.isEmpty ? .kept : .proven
            return placed
        } catch {
            throw .invalid("/parameters", error.description)
        }
    }
}

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
