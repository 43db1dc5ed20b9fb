import PushCore

/// The JSON object of an FCM HTTP v1 error, a `google.rpc.Status`.
struct FCMErrorBody: Sendable, Equatable {
    /// The FCM error code, else the reason of `google.rpc.ErrorInfo`, else the status text, word for word; empty when the
    /// body says none of them.
    var reason = ""
    /// The text for people.
    var message = ""
    /// Whether the error names the push token as its cause.
    var tokenAtFault = false

    /// Reads a body; what is not there or not JSON is left out.
    init(_ body: [UInt8]) {
        guard let first = body.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{"),
            let error = (try? JSONBody.decode(FCMErrorFields.Envelope.self, from: body))?.error
        else { return }
        message = ReasonText.storable(error.message ?? "")
        let details = error.details ?? []
        let code = details.lazy.filter { $0.type?.hasSuffix("fcm.v1.FcmError") ?? false }.compactMap(\.errorCode).first
        let info = details.first { $0.type?.hasSuffix("rpc.ErrorInfo") ?? false }
        // The quota of the whole project says more than the error code, which is the same for a device's.
        let isProjectQuota = info?.metadata?.quotaLimit?.hasSuffix("PerProject") ?? false
        let best = isProjectQuota ? info?.reason ?? specific(code) : specific(code) ?? info?.reason
        reason = ReasonText.storable(best ?? error.status ?? code ?? "")
        let namesToken = details.contains { detail in
            detail.fieldViolations?.contains { $0.field == "message.token" } ?? false
        }
        tokenAtFault = namesToken || message.hasPrefix(Self.invalidTokenMessage)
    }

    /// What FCM says of a malformed token, with or without a list of field violations.
    private static let invalidTokenMessage = "The registration token is not a valid FCM registration token"

    /// `UNSPECIFIED_ERROR` says less than the status text.
    private func specific(_ code: String?) -> String? {
        code == "UNSPECIFIED_ERROR" ? nil : code
    }
}
