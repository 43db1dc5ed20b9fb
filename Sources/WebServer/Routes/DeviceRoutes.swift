import Content
import HTTPTypes
import PushCore
import Store

/// `/devices`: what devices say of themselves through an SDK, said for them by a server.
struct DeviceRoutes: Sendable {
    let database: APIDatabase

    /// Devices of one answer: of a user or a token there are a few.
    private static let mostDevices: Int32 = 100

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .post,
                path: "/devices",
                operation: "registerDevice",
                summary: "Register a device, or update it",
                details:
                    "As a registration by an SDK: the same application, push token and user are the same device. Another user on the token makes a new one and disables the old one; a new token of the same user under the same deviceId does so too. Whatever is left out stays as it is, the user too; an empty userKey means no user. An opt-out stays, with a deviceId also when the token changes, and that of a user on all devices; nothing here opts anybody in.",
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
                    "At most \(Self.mostDevices), those that registered last first; give exactly one of userKey and pushToken.",
                scope: .readDevices,
                parameters: [
                    .query("userKey", #"{"type": "string", "minLength": 1}"#, "Whose they are."),
                    .query("pushToken", #"{"type": "string", "minLength": 1}"#, "The token that the gateway knows."),
                    .query("application", #"{"type": "string", "minLength": 1}"#, "Of this application only."),
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
                summary: "Send nothing more to a device, until it registers again",
                scope: .writeDevices,
                parameters: [APIRoute.idParameter],
                answers: [204: ""],
                problems: [.notFound],
                handle: unregister
            ),
            one(.put, "/opt-out", "optOut", "Note that the person behind a device wants nothing", .writeDevices) {
                try await $0.setOptOut($1, true)
            },
            one(
                .delete,
                "/opt-out",
                "optIn",
                "Note that the person behind a device wants messages again",
                .writeDevices
            ) {
                try await $0.setOptOut($1, false)
            },
            APIRoute(
                method: .put,
                path: "/opt-outs",
                operation: "setOptOutOfUser",
                summary: "Note that a user wants nothing, or messages again, on all devices",
                details:
                    "As opt-out of each of the user's devices, in one application or in all that the key is for. Devices that the user registers later are opted out, too, until this call says otherwise.",
                scope: .writeDevices,
                body: .required(schema: "OptOut"),
                answers: [200: "OptOutChange"],
                problems: [.notFound],
                handle: setOptOut
            ),
        ]
    }

    /// A route that does something to one device and answers with it.
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
                // What a call leaves out stays; a device says its id with each registration.
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
        let user = query.text("userKey", most: DeviceRegistration.longestKey)
        let token = query.text("pushToken", most: PushTokenForm.androidLength.upperBound)
        let application = query.text("application", most: 1_000)
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
                return try await store.devices(userKey: user ?? "", applications: wanted, limit: Self.mostDevices)
            }
            return try await store.devices(pushToken: token, applications: wanted, limit: Self.mostDevices)
        }
        return APIReply(.ok, .members(("devices", .array(rows.map(DeviceJSON.json)))))
    }

    private func setOptOut(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        var reader = JSONReader(call.body)
        let user =
            reader.text("userKey", required: true, most: DeviceRegistration.longestKey, mayBeEmpty: false)
            .map(KeyText.trimmed) ?? ""
        let isOut = reader.flag("optedOut")
        if isOut == nil, reader.faults.isEmpty { reader.note("optedOut", "true or false is expected") }
        if user.isEmpty, reader.faults.isEmpty { reader.note("userKey", "it is blank") }
        let application = reader.text("application", most: 1_000)
        try reader.close()
        let changed = try await database.run { store in
            var wanted = call.applications
            if let application {
                let row = try await store.apiApplications().first { $0.name == application && call.allows($0.id) }
                guard let row else { throw APIProblem.notFound("application of this name") }
                wanted = [row.id]
            }
            return try await store.setOptOut(ofUser: user, applications: wanted, isOut ?? true)
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

/// The body of a device's registration.
struct DeviceBody: Sendable {
    let application: String
    private let pushToken: String
    /// Nil if nothing is said of it.
    private let userKey: String?
    private let deviceID: String?
    private let locale: String
    private let timeZone: String
    private let device: [String: String]
    private let parameters: [String: String]?

    private static let longestName = 1_000
    /// A value's bytes; the body's limit is over all of them.
    private static let longestValue = 8_192

    init(_ body: JSONValue) throws(APIProblem) {
        var reader = JSONReader(body)
        application = reader.text("application", required: true, most: Self.longestName) ?? ""
        pushToken =
            reader.text("pushToken", required: true, most: PushTokenForm.androidLength.upperBound, mayBeEmpty: false)
            ?? ""
        userKey = reader.text("userKey", most: DeviceRegistration.longestKey).map(KeyText.trimmed)
        let given = reader.text("deviceId", most: DeviceRegistration.longestKey)
        deviceID = given.flatMap { $0.isEmpty ? nil : $0 }
        locale = reader.text("locale", most: DeviceSetting.longest) ?? ""
        timeZone = reader.text("timeZone", most: DeviceSetting.longest) ?? ""
        for (name, problem) in [
            ("locale", DeviceSetting.problem(locale: locale)), ("timeZone", DeviceSetting.problem(timeZone: timeZone)),
            ("userKey", Self.problem(userKey: userKey ?? "")), ("deviceId", Self.problem(key: deviceID ?? "")),
        ] {
            if let problem { reader.note(name, "it \(problem)") }
        }
        device = reader.texts("device", most: Self.longestValue) ?? [:]
        parameters = reader.texts("parameters", most: Self.longestValue)
        try reader.close()
    }

    /// Other systems find a person and a device again by these, in files of lines and in tables.
    private static func problem(key: String) -> String? {
        key.unicodeScalars.contains { $0.isControl || $0.isLineSeparator }
            ? "has line breaks or control characters" : nil
    }

    private static func problem(userKey key: String) -> String? {
        KeyText.flaw(inUserKey: key).map { "is \($0): send whole numbers as text, and no userKey where there is none" }
            ?? problem(key: key)
    }

    /// The registration, with each value where the application's declarations keep it.
    func placed(_ application: RegistrableApplication) throws(APIProblem) -> PlacedRegistration {
        guard let token = PushTokenForm.normalised(pushToken, application.platform) else {
            throw .invalid("/pushToken", "it is not \(PushTokenForm.words(application.platform))")
        }
        guard case .success(let declarations) = application.declarations else {
            throw .unavailable(
                "What application \"\(application.name)\" declares cannot be read by this version of the server."
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
            // A parameter that the application declares for it goes before.
            if placed.timeZone.isEmpty { placed.timeZone = timeZone }
            // A caller with an API key is the server. What it leaves out stays.
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
