import CCurl

/// One request on its way, on the client's thread.
final class CurlTransfer {
    /// Room for all header fields of an answer, in bytes; servers that we speak to send one or two thousand.
    private static let maximumHeaderBytes = 65_536

    let id: UInt64
    let request: CurlRequest
    let easy: UnsafeMutableRawPointer
    /// Memory that libcurl reads while the transfer lives.
    var headerList: UnsafeMutablePointer<curl_slist>?
    let errorBuffer: UnsafeMutablePointer<CChar>

    private let continuation: CurlWorker.Continuation
    private var headers: [CurlHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false

    /// Returns nil when memory is short; the continuation is then untouched.
    init?(id: UInt64, request: CurlRequest, continuation: CurlWorker.Continuation) {
        guard let easy = curl_easy_init() else { return nil }
        self.id = id
        self.request = request
        self.easy = easy
        self.continuation = continuation
        self.errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        self.errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorBuffer.deallocate()
    }

    /// Resumes the caller with the answer or the error.
    func finish(_ result: CURLcode) {
        continuation.resume(returning: outcome(of: result))
    }

    /// Resumes the caller, whose task was cancelled.
    func giveUp() {
        continuation.resume(
            returning: .failure(CurlWorker.cancelled(request.server, mayHaveBeenSent: mayHaveBeenSent))
        )
    }

    /// Takes a piece of the body; returns false to end the transfer.
    func receive(body piece: UnsafeRawBufferPointer) -> Bool {
        guard body.count + piece.count <= request.maximumResponseBytes else {
            isTooLarge = true
            return false
        }
        body.append(contentsOf: piece)
        return true
    }

    /// Takes one line of the header; returns false to end the transfer.
    func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            isTooLarge = true
            return false
        }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            // The final answer follows an interim one such as 100 Continue.
            headers.removeAll()
        } else if let colon = text.firstIndex(of: ":") {
            headers.append(CurlHeader(String(text[..<colon]), Self.trimmed(text[text.index(after: colon)...])))
        }
        return true
    }

    private var mayHaveBeenSent: Bool {
        var bytes = 0
        return ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK && bytes > 0
    }

    private func outcome(of result: CURLcode) -> Result<CurlResponse, CurlError> {
        if isTooLarge {
            let text =
                "answer of \(request.server) is larger than \(request.maximumResponseBytes) bytes of body or "
                + "\(Self.maximumHeaderBytes) bytes of header. Check that the address is the right server's."
            let number = Int32(bitPattern: result.rawValue)
            return .failure(CurlError(.responseTooLarge, text, curlCode: number, mayHaveBeenSent: true))
        }
        guard result == CURLE_OK else {
            let detail = String(cString: errorBuffer)
            let sent = mayHaveBeenSent
            return .failure(
                CurlError(result: result, server: request.server, detail: detail, mayHaveBeenSent: sent)
            )
        }
        var status = 0
        ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return .success(CurlResponse(status: status, headers: headers, body: body))
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        var value = text.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return String(value)
    }
}
