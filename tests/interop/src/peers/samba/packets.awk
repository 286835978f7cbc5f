# Checks the packets that filestone sent in a run, as tshark dissected them: a line has the fields of a packet; a field
# that can occur more than once is a list with commas, in order. `checks` has the names of the checks besides those for
# every run.
BEGIN { FS = "\t" }

function bad(what) {
  print "packet " $1 ": " what >"/dev/stderr"
  is_bad = 1
  exit 1
}

function wants(check) { return index(" " checks " ", " " check " ") }

# A number in either notation.
function number(text,  value, at) {
  if (text !~ /^0x/) return text + 0
  for (at = 3; at <= length(text); at++) value = 16 * value + index("0123456789abcdef", substr(text, at, 1)) - 1
  return value + 0
}

{
  stream = $2; sessions = $3; good = split($9, list, ","); nonces = split($10, nonce, ",")
  count = split($4, commands, ",")
  if (split($5, ids, ",") != count || split($6, charges, ",") != count || split($7, credits, ",") != count)
    bad("headers of " count " commands have other counts of fields")
  split($8, signed, ",")
  requests += count
  unsigned = is_setup = is_read = 0
  for (at = 1; at <= count; at++) {
    command = commands[at]
    if (command !~ /^[0-9]+$/) bad("\"" command "\" is no number")
    seen[command] = 1
    if (command == 0 || command == 1) is_setup = 1
    if (command == 8) is_read = 1
    if (number(signed[at]) == 0) {
      unsigned++
      # All but NEGOTIATE and SESSION_SETUP.
      if (wants("signed") && command > 1) bad("command " command " is not signed")
    }
    # Each request uses as many message IDs as its credit charge (MS-SMB2, section 3.2.4.1.5) and requests at least as
    # many credits. A CANCEL has the ID of the request that it cancels.
    if (command != 12) {
      id = number(ids[at]); charge = number(charges[at]); if (charge < 1) charge = 1
      if (number(credits[at]) < charge) bad("asks for fewer credits than the " charge " it takes")
      for (next_id = id + charge; id < next_id; id++)
        if (taken[stream, id]++) bad("message id " id " has been used before")
    }
  }
}

# tshark computes the same signatures.
wants("signed") && good != count - unsigned { bad(good " of " count - unsigned " signatures are good") }
{ signatures += good }

# Each NEGOTIATE offers only this dialect.
dialect && $4 == "0" { negotiates++; if (number($13) != number(dialect) || $13 ~ /,/) bad("offers " $13) }

# Each READ has the requested length, and the offsets cycle through the file of 1 MiB from start to end.
wants("reads") && is_read {
  for (at = 1; at <= count; at++) if (charges[at] != 2) bad("a charge of " charges[at])
  for (at = split($11, list, ","); at > 0; at--) { if (number(list[at]) != 100000) bad("a length of " list[at]); reads++ }
  for (at = split($12, list, ","); at > 0; at--) offsets[number(list[at])]++
}

# All messages except the session setup are encrypted, and no nonce is used twice in a session.
wants("encrypted") {
  if ((nonces > 0) == is_setup) bad("commands " $4 " with " nonces " nonces")
  split(sessions, list, ",")
  for (at = 1; at <= nonces; at++) if (used[list[1], nonce[at]]++) bad("nonce " nonce[at] " has been used before")
  encrypted += nonces
}

# Connections that are bound to the session of the first.
$14 ~ /1/ && !bound[stream]++ { bindings++ }

function fail(what) { print what >"/dev/stderr"; exit 1 }

END {
  if (is_bad) exit 1
  if (dialect && !negotiates) fail("no packet is a NEGOTIATE")
  if (wants("reads")) {
    for (read = 0; read < 50; read++) expected[read % 11 * 100000]++
    if (reads != 50) fail(reads " READs")
    for (offset in expected) if (offsets[offset] != expected[offset]) fail(offsets[offset] + 0 " READs at " offset)
  }
  if (wants("bindings") && bindings != 3) fail(bindings + 0 " connections are bound to a session, not 3")
  for (at = split(wanted, list, ","); at > 0; at--) if (!seen[list[at]]) fail("no packet has command " list[at])
  printf "%d packets with %d requests, %d good signatures, %d of them encrypted, %d bindings\n", NR, requests, signatures,
    encrypted, bindings
}
