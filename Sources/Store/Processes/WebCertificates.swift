import PostgresClient
import PushCore

/// The certificate that a web process serves HTTPS with.
public struct WebCertificateRow: Sendable, Hashable {
    /// The process's host.
    public let host: String
    /// The certificate's file there.
    public let file: String
    /// How long it is good, by the database's clock; negative when its time is over.
    public let secondsLeft: Double
}

extension Store {
    /// Notes until when a web process's certificate is good.
    ///
    /// - Parameter expires: seconds of Unix time.
    public func noteWebCertificate(host: String, file: String, expires: Int) async throws {
        try await query(
            "SELECT pushmta_engine.note_web_certificate($1, $2, $3)",
            [.text(host), .text(file), .double(Double(expires))]
        )
    }

    /// The certificates that web processes have reported within the hour, by host and file.
    public func webCertificates() async throws -> [WebCertificateRow] {
        let result = try await query(
            """
            SELECT w.host, w.file, extract(epoch FROM w.expires_at - now())::double precision
            FROM pushmta_engine.web_certificate w WHERE w.reported_at > now() - interval '1 hour' ORDER BY w.host, w.file
            """
        )
        return try all(result) { rows, row in
            WebCertificateRow(
                host: try rows.text(row, 0),
                file: try rows.text(row, 1),
                secondsLeft: try rows.double(row, 2)
            )
        }
    }
}
