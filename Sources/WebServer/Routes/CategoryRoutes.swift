import HTTPTypes
import PushCore
import Store

/// Categories of deliveries, and the opt-outs of devices and users from them.
struct CategoryRoutes: Sendable {
    let database: APIDatabase

    private static let path = "/devices/{id}/opt-outs/{category}"
    private static let parameters = [
        APIRoute.idParameter,
        .path("category", APIText.category.schema(mayBeEmpty: false), "A category of the device's service, by name."),
    ]

    var routes: [APIRoute] {
        [
            APIRoute(
                method: .get,
                path: "/categories",
                operation: "listCategories",
                summary: "The categories of deliveries, of the services whose applications the key allows",
                scope: .readApplications,
                answers: [200: "CategoryList"],
                handle: list
            ),
            APIRoute(
                method: .get,
                path: "/devices/{id}/categories",
                operation: "readDeviceCategories",
                summary: "The categories of a device's service, with its user's opt-outs",
                details: "An opt-out from everything is the device's optedOut.",
                scope: .readDevices,
                parameters: [APIRoute.idParameter],
                answers: [200: "DeviceCategoryList"],
                problems: [.notFound],
                handle: { try await change($0, nil) }
            ),
            APIRoute(
                method: .put,
                path: Self.path,
                operation: "optOutOfCategory",
                summary: "Note that a device's user wants no deliveries of a category",
                details:
                    "It stays when the device registers again, and applies to later tokens of a device with a deviceId. Nobody can opt out of a transactional category alone.",
                scope: .writeDevices,
                parameters: Self.parameters,
                answers: [200: "DeviceCategoryList"],
                problems: [.notFound],
                handle: { try await change($0, true) }
            ),
            APIRoute(
                method: .delete,
                path: Self.path,
                operation: "optInToCategory",
                summary: "Note that a device's user wants deliveries of a category again",
                scope: .writeDevices,
                parameters: Self.parameters,
                answers: [200: "DeviceCategoryList"],
                problems: [.notFound],
                handle: { try await change($0, false) }
            ),
            APIRoute(
                method: .get,
                path: "/opt-outs",
                operation: "readOptOutsOfUser",
                summary: "What a user opted out of on all devices",
                details: "Opt-outs of single devices are not included.",
                scope: .readDevices,
                parameters: [.query("userKey", #"{"type": "string", "minLength": 1}"#, "The user.")],
                answers: [200: "UserOptOutList"],
                handle: ofUser
            ),
        ]
    }

    private func list(_ call: APICall) async throws -> APIReply {
        var query = call.query
        try query.close()
        let rows = try await database.run { try await $0.apiCategories(applications: call.applications) }
        return APIReply(.ok, .members(("categories", .array(rows.map(Self.json)))))
    }

    /// - Parameter isOut: whether the user opts out; nil changes nothing.
    private func change(_ call: APICall, _ isOut: Bool?) async throws -> APIReply {
        var query = call.query
        try query.close()
        let id = try call.id("device")
        let rows = try await database.run { store in
            let row = try await store.device(id)
            guard call.allows(row.applicationID) else { throw APIProblem.notFound("device \(id)") }
            if let isOut {
                guard let name = call.path["category"], NameRule.problem(name: name) == nil else {
                    throw APIProblem.notFound("category of this name")
                }
                try await store.setOptOut(id, category: name, isOut)
            }
            return try await store.deviceCategories(id)
        }
        return APIReply(.ok, .members(("categories", .array(rows.map(Self.json)))))
    }

    private func ofUser(_ call: APICall) async throws -> APIReply {
        var query = call.query
        let user = query.text("userKey", as: .userKey)
        if query.faults.isEmpty, user == nil { query.note("userKey", "it is missing") }
        try query.close()
        let rows = try await database.run { store in
            try await store.userOptOuts(KeyText.trimmed(user ?? ""), applications: call.applications)
        }
        return APIReply(.ok, .members(("optOuts", .array(rows.map(Self.json)))))
    }

    private static func json(_ row: CategoryRow) -> JSONValue {
        .members(
            ("service", .string(row.service)),
            ("name", .string(row.name)),
            ("label", .string(row.label)),
            ("transactional", .boolean(row.isTransactional))
        )
    }

    private static func json(_ row: DeviceCategory) -> JSONValue {
        .members(
            ("name", .string(row.name)),
            ("label", .string(row.label)),
            ("transactional", .boolean(row.isTransactional)),
            ("optedOut", .boolean(row.optedOutSince != nil)),
            ("since", .time(row.optedOutSince)),
            ("source", .filledText(row.source))
        )
    }

    private static func json(_ row: UserOptOut) -> JSONValue {
        .members(
            ("service", .string(row.service)),
            ("application", .string(row.application)),
            ("category", .text(row.category)),
            ("since", .time(row.since))
        )
    }
}
