#!/bin/sh
# Builds a small ffmpeg and ffprobe under the LGPL from Debian's own source package, in a stage of the media runtime image.
# Result: /opt/ffmpeg, to be copied to /: programs, the libraries that a base image lacks, and the packages' entries for
# bills of materials. No network protocols, no formats that name other files.
# usage: ffmpeg.sh [ARCHITECTURE]   as Debian names it; another than this machine's is compiled for by a cross compiler
set -eu
export DEBIAN_FRONTEND=noninteractive
here=$(dpkg --print-architecture)
target=${1:-$here}

# Source packages, in either form of the lists.
for list in /etc/apt/sources.list.d/*.sources; do
  [ -e "$list" ] && sed -i 's/^Types: deb$/Types: deb deb-src/' "$list"
done
[ -e /etc/apt/sources.list ] && sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >>/etc/apt/sources.list
[ "$target" = "$here" ] || dpkg --add-architecture "$target"
apt-get update -qq
libraries=
for name in libc6 libvpx libopus libdav1d zlib1g libmp3lame libopenh264; do libraries="$libraries $name-dev:$target"; done
# shellcheck disable=SC2086
apt-get install -qq -y --no-install-recommends make nasm pkgconf xz-utils dpkg-dev $libraries >/dev/null
machine=$(dpkg-architecture -a "$target" -q DEB_HOST_GNU_TYPE)
folder=/usr/lib/$(dpkg-architecture -a "$target" -q DEB_HOST_MULTIARCH)
# The compiler of a target has its name before its own on every machine.
apt-get install -qq -y --no-install-recommends "gcc-$(echo "$machine" | tr _ -)" >/dev/null
export PKG_CONFIG_LIBDIR="$folder/pkgconfig:/usr/share/pkgconfig"
mkdir /source && cd /source
apt-get source -qq ffmpeg
cd ffmpeg-*/

prefix=/usr/local/lib/ffmpeg
./configure --prefix=$prefix --enable-cross-compile --cross-prefix="$machine-" --pkg-config=pkg-config --target-os=linux \
  --arch="${machine%%-*}" --enable-rpath --disable-everything --disable-doc --disable-network --disable-autodetect \
  --disable-debug --disable-ffplay --disable-avdevice --enable-shared --disable-static --enable-zlib --enable-libvpx \
  --enable-libopus --enable-libdav1d --enable-libmp3lame --enable-libopenh264 --enable-protocol=file,pipe \
  --enable-demuxer=mov,matroska,avi,wav,mp3,aac,ogg,flac,gif,mpegts,flv,asf,rawvideo,pcm_f32le,w64,aiff,au,caf,amr,ac3,eac3,mpegps \
  --enable-muxer=mp4,webm,wav,ogg,mp3,rawvideo,pcm_f32le,pcm_s16le,gif,null,flac,adts \
  --enable-decoder='h264,hevc,vp8,vp9,libdav1d,mpeg4,mpeg2video,mpeg1video,h263,mjpeg,gif,rawvideo,png,aac,mp3float,vorbis,opus,flac,alac,pcm_*,adpcm_*,wmav1,wmav2,amrnb,amrwb,ac3,eac3,wmv1,wmv2,wmv3,vc1,msmpeg4v3,theora,prores,flv' \
  --enable-encoder=libopenh264,libvpx_vp9,libvpx_vp8,libopus,libmp3lame,aac,flac,pcm_s16le,pcm_f32le,rawvideo,gif \
  --enable-parser=h264,hevc,vp8,vp9,av1,aac,mpegaudio,opus,vorbis,flac,mpeg4video,mpegvideo,h263,mjpeg,gif,vc1,ac3 \
  --enable-bsf=h264_mp4toannexb,hevc_mp4toannexb,aac_adtstoasc,vp9_superframe,extract_extradata,av1_frame_merge,vp9_superframe_split \
  --enable-filter=scale,fps,select,format,aformat,aresample,anull,null,trim,setpts,transpose,rotate,hflip,vflip,crop,pad,palettegen,paletteuse,split
make -j"$(nproc)" >/dev/null
make install >/dev/null
"$machine-strip" $prefix/bin/* $prefix/lib/*.so

out=/opt/ffmpeg
mkdir -p $out$prefix/lib $out/usr/local/bin $out/var/lib/dpkg/status.d
cp -P $prefix/lib/*.so.* $out$prefix/lib/
for program in ffmpeg ffprobe; do
  mkdir -p $out$prefix/bin
  cp $prefix/bin/$program $out$prefix/bin/
  ln -s $prefix/bin/$program $out/usr/local/bin/$program
done
# Some are known by their place before /usr took over /lib.
owner_of() {
  for place in "$1" "$(readlink -f "$1")" "${1#/usr}" "$(readlink -f "$1" | sed 's,^/usr,,')"; do
    if found=$(dpkg-query --search "$place" 2>/dev/null); then
      echo "${found%%: *}"
      return
    fi
  done
  echo "no package has $1" >&2
  return 1
}
entry() { dpkg-query --show --showformat '${Package}\t${Version}\t${Architecture}\t${source:Package}\n' "$1"; }
# Libraries that are linked to, and not part of every base image, go beside ffmpeg's own. Their headers name them on any machine.
needed_by() { "$machine-readelf" --dynamic "$@" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u; }
copy_needed() {
  needed_by "$@" | while read -r name; do
    if [ -e "$out$prefix/lib/$name" ]; then continue; fi
    owner=$(owner_of "$folder/$name")
    case ${owner%%:*} in libc6 | libgcc-s1 | libstdc++6 | zlib1g) continue ;; esac
    cp "$folder/$name" "$out$prefix/lib/"
    echo "$owner"
    copy_needed "$folder/$name"
  done
}
copy_needed $prefix/lib/*.so.* >/tmp/owners
sort -u /tmp/owners | while read -r owner; do
  entry "$owner" | awk -F '\t' '{print "Package: " $1 "\nStatus: install ok installed\nVersion: " $2 "\nArchitecture: " $3 "\nSource: " $4}' \
    >$out/var/lib/dpkg/status.d/"${owner%%:*}"
done
version=$(dpkg-parsechangelog --show-field Version)
printf 'Package: ffmpeg\nStatus: install ok installed\nVersion: %s\nArchitecture: %s\nSource: ffmpeg\n' \
  "$version" "$target" >$out/var/lib/dpkg/status.d/ffmpeg
find $out -exec touch -h -d @1577836800 {} +
