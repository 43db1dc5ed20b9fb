import CCurl

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

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

    private let mayLeave: CurlWorker.MayLeave?
    private let completion: CurlWorker.Completion
    private var headers: [CurlHeader] = []
    private var headerBytes = 0
    private var body: [UInt8] = []
    private var isTooLarge = false
    /// Bytes that were sent before the first connection was ready, to a proxy; nil as long as none was.
    private var bytesBefore: Int?
    /// The connections that were made for the request when one was ready.
    private var connects = 0
    private var isRepetition = false
    private var isWithheld = false

    /// Returns nil when memory is short; the completion is then untouched.
    init?(
        id: UInt64,
        request: CurlRequest,
        mayLeave: CurlWorker.MayLeave?,
        completion: @escaping CurlWorker.Completion
    ) {
        guard let easy = curl_easy_init() else { return nil }
        self.id = id
        self.request = request
        self.easy = easy
        self.mayLeave = mayLeave
        self.completion = completion
        self.errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        self.errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorBuffer.deallocate()
    }

    /// Tells the caller the answer or the error.
    func finish(_ result: CURLcode) {
        completion(outcome(of: result))
    }

    /// Tells the caller, who does not want it any more.
    func giveUp() {
        completion(.failure(CurlWorker.cancelled(request.server, mayHaveBeenSent: mayHaveBeenSent)))
    }

    /// A connection is ready; returns whether the request may be sent on it.
    ///
    /// libcurl comes here again when it wants to repeat the request, because a connection that was used before ended without
    /// an answer. What may have arrived must not arrive twice.
    func ready(peer: String) -> Bool {
        let bytes = sentBytes
        if let before = bytesBefore, bytes > before {
            isRepetition = true
            return false
        }
        bytesBefore = bytes
        guard let mayLeave else { return true }
        var made = 0
        ccurl_get_long(easy, CURLINFO_NUM_CONNECTS, &made)
        defer { connects = made }
        isWithheld = !mayLeave(CurlConnection(peer: peer, isNew: made > connects))
        return !isWithheld
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

    private var sentBytes: Int {
        var bytes = 0
        return ccurl_get_long(easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK ? bytes : 0
    }

    private var mayHaveBeenSent: Bool {
        bytesBefore.map { sentBytes > $0 } ?? false
    }

    private func outcome(of result: CURLcode) -> Result<CurlResponse, CurlError> {
        if isTooLarge {
            let text =
                "answer of \(request.server) is larger than \(request.maximumResponseBytes) bytes of body or "
                + "\(Self.maximumHeaderBytes) bytes of header. Check that the address is the right server's."
            let number = Int32(bitPattern: result.rawValue)
            return .failure(CurlError(.responseTooLarge, text, curlCode: number, mayHaveBeenSent: true))
        }
        if isWithheld {
            return .failure(CurlError(.withheld, "request to \(request.server) was withheld when it could have left"))
        }
        guard result == CURLE_OK else {
            let detail = isRepetition ? "the connection ended without an answer" : cause(of: result)
            let sent = mayHaveBeenSent
            let result = isRepetition ? CURLE_GOT_NOTHING : result
            return .failure(
                CurlError(result: result, server: request.server, detail: detail, mayHaveBeenSent: sent)
            )
        }
        var status = 0
        ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
        return .success(CurlResponse(status: status, headers: headers, body: body))
    }

    /// libcurl's words, and the system's for a connection that did not come about: libcurl leaves these out.
    private func cause(of result: CURLcode) -> String {
        let text = String(cString: errorBuffer)
        var number = 0
        guard result == CURLE_COULDNT_CONNECT, ccurl_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK, number > 0,
            let words = strerror(Int32(truncatingIfNeeded: number))
        else { return text }
        return "\(text) (\(String(cString: words)))"
    }

    private static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" || $0 == "\r\n" }
        var value = text.drop(while: isBlank)
        while let last = value.last, isBlank(last) { value.removeLast() }
        return String(value)
    }
}
