import HTTPTypes
import NIOCore

/// A short answer: a status and a text that an SDK can show.
struct WebAnswer: Sendable {
    var status: HTTPResponse.Status
    var body: ByteBuffer
    var contentType = "text/plain; charset=utf-8"
    /// What may be asked instead, for 405.
    var allow: String?
    /// When it is worth another try, in seconds.
    var retryAfter: Int?
    /// Whether the connection ends with it.
    var closes = false

    init(_ status: HTTPResponse.Status, _ text: String) {
        self.status = status
        // Texts end with a line end, for people who ask with a command-line client.
        body = ByteBuffer(string: text.isEmpty ? "" : text + "\n")
    }

    /// `x-request-id`; a lower-case token, so there is always such a name.
    static let requestIDName = HTTPField.Name("x-request-id") ?? .via

    /// Its head.
    func head(date: String?, requestID: String?) -> HTTPResponse {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentLength, value: String(body.readableBytes)))
        if body.readableBytes > 0 { fields.append(HTTPField(name: .contentType, value: contentType)) }
        if let date { fields.append(HTTPField(name: .date, value: date)) }
        if let requestID { fields.append(HTTPField(name: Self.requestIDName, value: requestID)) }
        if let allow { fields.append(HTTPField(name: .allow, value: allow)) }
        if let retryAfter { fields.append(HTTPField(name: .retryAfter, value: String(retryAfter))) }
        if closes { fields.append(HTTPField(name: .connection, value: "close")) }
        return HTTPResponse(status: status, headerFields: fields)
    }
}
